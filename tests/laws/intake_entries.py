"""Every way by which text enters a vault, as something to feed a secret to."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.ids import IdMaker
from recollectum.domain.memory import Kind
from recollectum.domain.message import Message, Role, ToolCall
from recollectum.domain.proposal import Act, Finding
from recollectum.domain.session import Session, SessionKey
from recollectum.doors.hook.events import read_event
from recollectum.doors.hook.recording import record
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.client import Confirmations, McpClient
from recollectum.doors.mcp.dispatch import call_tool
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH
from recollectum.doors.mcp.knowledge_graph.file_import import import_file
from recollectum.testing import ScriptedModel
from recollectum.transfer import jsonl
from recollectum.transfer.sessions import export_record, import_record, import_transcript
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.doors.cli.calls import ok
from tests.doors.hook.calls import event
from tests.doors.http.served import Served
from tests.matrix.homes import START
from tests.vault.transcript_files import append, said

_HOLE = "a-hole-for-a-secret"


@dataclass(frozen=True, slots=True)
class World:
    """An open home with a server over it, and a folder for files of the person's own."""

    home: Recollectum
    served: Served
    folder: Path

    @property
    def vault(self) -> Vault:
        """Alice's vault."""
        return self.home.vault("user:alice")

    @property
    def other(self) -> Vault:
        """The vault into which conversations are brought."""
        return self.home.vault("user:bob")

    def chat(self, name: str) -> Chat:
        """A conversation for one entry."""
        return self.vault.sessions.open(group=name)

    def client(self) -> McpClient:
        """An MCP client at alice's vault."""
        return McpClient(self.vault, "tester", Confirmations())


Entry = Callable[[World, str], object]


def _finding(content: str, reason: str = "") -> Finding:
    return Finding(act=Act.ADD, content=content, kind=Kind.FACT, importance=0.5, spans=(), reason=reason)


def _approve(world: World, text: str) -> None:
    (laid,) = world.vault.admin.review.propose([_finding("something to approve")])
    world.vault.admin.review.approve(laid.id, text)


def _record_call(world: World, text: str) -> None:
    chat = world.chat("calls")
    message = chat.add("assistant", "I look", tool_calls=[ToolCall(id="c1", name="look")])
    chat.record_call(message.id, ToolCall(id="c1", name="look", args={"q": text}, result=[text]))


def _learnings_by_hand(world: World, text: str) -> None:
    world.vault.learnings.sync()
    path = world.vault.learnings.file()
    path.write_text(path.read_text().replace("## Patterns\n", f"## Patterns\n- {text}\n"))
    assert world.vault.learnings.sync().added == 1


def _talk(text: str) -> tuple[Session, list[Message]]:
    ids = IdMaker()
    session = Session(id=ids("ses"), key=SessionKey(), created_at=START, updated_at=START, title=text, summary=text)
    message = Message(
        id=ids("msg"),
        session_id=session.id,
        position=1,
        role=Role.USER,
        content=text,
        created_at=START,
        extra={"about": text},
    )
    return session, [message]


def _transcript(world: World, text: str) -> None:
    assert import_transcript(world.other, jsonl.write(*_talk(text))).added == 1


def _record(world: World, text: str) -> None:
    chat = world.chat("to-record")
    chat.add("user", _HOLE)
    data = export_record(world.vault, chat.id).replace(_HOLE, text)
    assert import_record(world.other, data.encode()).added == 1


def _followed(world: World, text: str) -> None:
    append(world.folder / "transcripts" / "one.jsonl", said(0, text))
    world.vault.admin.transcripts.follow(world.folder / "transcripts")
    assert world.vault.admin.transcripts.sync().added == 1


def _notes(world: World, text: str) -> None:
    folder = world.folder / "notes"
    folder.mkdir()
    (folder / "one.md").write_text(f"# A note\n\n{text}\n")
    world.vault.admin.notes.add(folder)
    assert world.vault.admin.notes.sync().added == 1


def _summary(world: World, text: str) -> None:
    chat = world.chat("long")
    chat.add_many([NewMessage(role="user", content="we moved to Lyon in March " * 40) for _ in range(60)])
    assert (
        world.vault.sessions.summaries.update(chat.id, model=ScriptedModel([json.dumps({"summary": text})] * 9))
        is not None
    )


def _hook(world: World, text: str) -> None:
    found = read_event("claude-code", event("Stop", "hooked", last_assistant_message=text))
    assert found is not None
    assert record(world.vault, found, "a question", lambda _: None)


def _graph_file(world: World, text: str) -> None:
    path = world.folder / "graph.jsonl"
    path.write_text(json.dumps({"type": "entity", "name": "Bo", "entityType": "person", "observations": [text]}))
    import_file(world.vault, str(path))


def _observe(world: World, text: str) -> None:
    client = world.client()
    ann: dict[str, object] = {"name": "Ann", "entityType": "person", "observations": []}
    call_tool(GRAPH, client, "create_entities", {"entities": [ann]})
    call_tool(GRAPH, client, "add_observations", {"observations": [{"entityName": "Ann", "contents": [text]}]})


def _http_edit(world: World, text: str) -> None:
    memory = world.vault.memories.save("to be edited over HTTP")
    assert world.served.ask("PATCH", f"/memory/{memory.id}", {"content": text}).status == 200


def _http_message(world: World, text: str) -> None:
    place = f"/v1/sessions/{world.chat('over-http').id}/messages"
    assert world.served.ask("POST", place, {"role": "user", "content": text}).status == 200


def _http_approve(world: World, text: str) -> None:
    (laid,) = world.vault.admin.review.propose([_finding("something to approve over HTTP")])
    assert world.served.ask("POST", f"/v1/review/{laid.id}/approval", {"content": text}).status == 200


def _cli_import(world: World, text: str) -> None:
    path = append(world.folder / "talk.jsonl", b"".join(jsonl.write(*_talk(text))))
    ok("sessions", "import", str(path), "--user", "alice")


#: By the operation or door that takes the text.
ENTRIES: dict[str, Entry] = {
    "memories.save": lambda w, t: w.vault.memories.save(t),
    "memories.save (JSON)": lambda w, t: w.vault.memories.save(json.dumps({"note": t})),
    "memories.save_many": lambda w, t: w.vault.memories.save_many([Draft(content=t)]),
    "memories.edit": lambda w, t: w.vault.memories.edit(w.vault.memories.save("to be edited").id, t),
    "memories.supersede": lambda w, t: w.vault.memories.supersede(w.vault.memories.save("to be superseded").id, t),
    "learnings.add": lambda w, t: w.vault.learnings.add(t, "pattern"),
    "learnings.sync": _learnings_by_hand,
    "review.propose": lambda w, t: w.vault.admin.review.propose([_finding(t)]),
    "review.propose (reason)": lambda w, t: w.vault.admin.review.propose([_finding("for a reason", t)]),
    "review.approve": _approve,
    "chat.add": lambda w, t: w.chat("a").add("user", t),
    "chat.add (parts)": lambda w, t: w.chat("b").add("user", [{"type": "text", "text": t}]),
    "chat.add (thoughts)": lambda w, t: w.chat("c").add("assistant", "so", thoughts=[{"text": t}]),
    "chat.add (extra)": lambda w, t: w.chat("d").add("user", "more", extra={"about": t}),
    "chat.add (speaker)": lambda w, t: w.chat("e").add("user", "more", speaker=t),
    "chat.add_many": lambda w, t: w.chat("f").add_many([NewMessage(role="user", content=t)]),
    "vault.learn": lambda w, t: w.vault.learn([{"role": "user", "content": t}], channel="learned"),
    "chat.record_call": _record_call,
    "chat.describe": lambda w, t: w.chat("g").describe(title=t),
    "chat.describe (summary)": lambda w, t: w.chat("h").describe(summary=t),
    "sessions.adopt": lambda w, t: w.other.sessions.adopt(*_talk(t)),
    "sessions.adopt (transcript)": _transcript,
    "sessions.adopt (record)": _record,
    "transcripts.sync": _followed,
    "notes.sync": _notes,
    "summaries.update": _summary,
    "hook Stop": _hook,
    "graph import": _graph_file,
    "MCP remember": lambda w, t: call_tool(DEFAULT, w.client(), "remember", {"content": t}),
    "MCP create_entities": lambda w, t: call_tool(
        GRAPH, w.client(), "create_entities", {"entities": [{"name": "Cy", "entityType": "cat", "observations": [t]}]}
    ),
    "MCP add_observations": _observe,
    "HTTP POST /memory/add": lambda w, t: w.served.ask("POST", "/memory/add", {"content": t}),
    "HTTP POST /v1/memories": lambda w, t: w.served.ask("POST", "/v1/memories", {"content": t}),
    "HTTP PATCH /memory": _http_edit,
    "HTTP POST messages": _http_message,
    "HTTP POST learnings": lambda w, t: w.served.ask("POST", "/v1/learnings", {"text": t, "category": "pattern"}),
    "HTTP POST approve": _http_approve,
    "CLI remember": lambda _, t: ok("remember", t, "--user", "alice"),
    "CLI learnings add": lambda _, t: ok("learnings", "add", t, "--user", "alice"),
    "CLI sessions import": _cli_import,
}
#: Their secrets are not kept: the person's own file has them still.
NOT_KEPT = frozenset({"notes.sync"})

#: Operations that may write and take a str, and why no text of theirs needs an entry.
WITHOUT_TEXT: dict[str, str] = {
    "checkpoints.save": "a name that holds a secret is refused; a test of its own shows it",
    "globalnotesfile.save": "MEMORY.md is the person's own file, and stays as they wrote it",
}
#: Services of the home, whose names and ids are in no vault.
OF_THE_HOME = ("keys.", "people.", "receipts.")
