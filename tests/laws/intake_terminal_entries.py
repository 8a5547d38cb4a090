"""Every way by which text enters a vault from a terminal or a browser, and what a model writes there."""

import json
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.memory import Kind
from recollectum.domain.message import ToolCall
from recollectum.domain.proposal import Act, Finding
from recollectum.testing import Scripted, ScriptedModel
from recollectum.transfer import jsonl
from tests.doors.cli.calls import ok
from tests.doors.cli.chat.agents import Shown, agent_with
from tests.laws.intake_world import Entry, World, talk
from tests.vault.scripted_homes import finds, found
from tests.vault.transcript_files import append, said

_ALICE = ("--user", "alice")


def _propose(world: World, content: str) -> str:
    finding = Finding(act=Act.ADD, content=content, kind=Kind.FACT, importance=0.5, spans=())
    (laid,) = world.vault.admin.review.propose([finding])
    return laid.id


def _console_edit(world: World, text: str) -> object:
    memory = world.vault.memories.save("to be edited in the console").memory
    return world.console(f"/console/memories/{memory.id}/edit", content=text, version="1")


def _console_remember(world: World, text: str) -> object:
    return world.console("/console/memories", content=text)


def _console_approve(world: World, text: str) -> object:
    place = f"/console/review/{_propose(world, 'something to approve in the console')}"
    return world.console(f"{place}/approve", content=text)


def _edit(world: World, text: str) -> object:
    return ok("memories", "edit", world.vault.memories.save("to be edited by command").id, text, *_ALICE)


def _supersede(world: World, text: str) -> object:
    return ok("memories", "supersede", world.vault.memories.save("to be superseded by command").id, text, *_ALICE)


def _approve(world: World, text: str) -> object:
    return ok("review", "approve", _propose(world, "something to approve by command"), "--edit", text, *_ALICE)


def _learnings_sync(world: World, text: str) -> object:
    path = Path(ok("learnings", "path", *_ALICE).word)
    entry = "\n  ".join(text.split("\n"))
    path.write_text(path.read_text().replace("## Patterns\n", f"## Patterns\n- {entry}\n"))
    synced = ok("learnings", "sync", *_ALICE)
    assert any(one.text.startswith(text[:8]) for one in world.vault.learnings.list())
    return synced


def _import(world: World, text: str) -> object:
    path = append(world.folder / "talk.jsonl", b"".join(jsonl.write(*talk(text))))
    return ok("sessions", "import", str(path), *_ALICE)


def _import_foreign(world: World, text: str) -> object:
    path = append(world.folder / "foreign" / "one.jsonl", said(0, text, "a-foreign-conversation"))
    return ok("import", str(path), "--yes", *_ALICE)


def _follow(world: World, text: str) -> object:
    path = append(world.folder / "followed" / "one.jsonl", said(0, "at first", "another-conversation"))
    ok("sessions", "transcripts", "follow", str(path), *_ALICE)
    append(path, said(1, text, "another-conversation"))
    return ok("sessions", "transcripts", "sync", *_ALICE)


def _notes(world: World, text: str) -> object:
    folder = world.folder / "more-notes"
    folder.mkdir()
    ok("notes", "add", str(folder), *_ALICE)
    (folder / "two.md").write_text(f"# A note\n\n{text}\n")
    return ok("notes", "sync", *_ALICE)


def _graph(world: World, text: str) -> object:
    path = world.folder / "more-graph.jsonl"
    path.write_text(json.dumps({"type": "entity", "name": "Di", "entityType": "dog", "observations": [text]}))
    return ok("mcp", "import-graph", str(path), *_ALICE)


def _set_aside(world: World, text: str) -> object:
    """What a source writes while it is in quarantine is stored as well."""
    ok("quarantine", "put", "tool:reader", "--yes", *_ALICE)
    call = ToolCall(id="c1", name="reader", result=text)
    return world.chat("quarantined").add("assistant", "I read", tool_calls=[call])


def _say(world: World, *answers: Scripted) -> object:
    shown = Shown()
    agent_with(world.vault, ScriptedModel(answers), shown).turn("hello")
    return "\n".join(shown.told)


def _tool(name: str, **args: str) -> tuple[ToolCall, ...]:
    return (ToolCall(id="call_1", name=name, args=dict(args)),)


def _consolidate(world: World, text: str, *, ends: bool) -> object:
    """A model recites a secret in its reason: what it finds has to be in the words that were said."""
    chat = world.chat("ended" if ends else "read")
    fact = f"Grace keeps {'bees' if ends else 'goats'} in Lyon"
    chat.add("tool", fact)
    finding = {**found(fact, fact), "reason": text}
    with Recollectum(world.home.home.root, language_model=ScriptedModel([finds(finding)])) as home:
        vault = home.vault("user:alice")
        outcome = vault.admin.consolidation.reset(chat.id) if ends else vault.admin.consolidation.run(chat.id)
        assert outcome.run is not None, outcome.trouble
        (laid,) = (one for one in vault.admin.review.list() if one.run_id == outcome.run.id)
        approved = vault.admin.review.approve(laid.id)
        assert approved.memory_id is not None
        assert vault.memories.get(approved.memory_id).content == fact
        return outcome


#: By the command, line or form that takes the text.
TERMINAL_ENTRIES: dict[str, Entry] = {
    "console POST /console/memories": _console_remember,
    "console POST /console/memories/{memory_id}/edit": _console_edit,
    "console POST /console/review/{proposal_id}/approve": _console_approve,
    "CLI remember": lambda _, t: ok("remember", t, *_ALICE),
    "CLI memories edit": _edit,
    "CLI memories supersede": _supersede,
    "CLI learnings add": lambda _, t: ok("learnings", "add", t, *_ALICE),
    "CLI learnings sync": _learnings_sync,
    "CLI history add": lambda _, t: ok("history", "add", t, *_ALICE),
    "CLI state set": lambda _, t: ok("state", "set", "cli-note", t, *_ALICE),
    "CLI review approve": _approve,
    "CLI sessions add": lambda w, t: ok("sessions", "add", w.chat("command").id, "user", t, *_ALICE),
    "CLI sessions import": _import,
    "CLI import": _import_foreign,
    "CLI sessions transcripts sync": _follow,
    "CLI notes sync": _notes,
    "CLI mcp import-graph": _graph,
    "CLI quarantine put": _set_aside,
    "CLI chat": lambda _, t: ok("chat", "--model", "none", *_ALICE, stdin=f"{t}\n".encode()),
    "CLI chat --once": lambda _, t: ok("chat", "--model", "scripted", "--once", t, *_ALICE),
    "chat /remember": lambda _, t: ok("chat", "--model", "none", *_ALICE, stdin=f"/remember {t}\n".encode()),
    "chat reply": lambda w, t: _say(w, t),
    "chat remember": lambda w, t: _say(w, _tool("remember", text=t), "Noted."),
    "chat recall": lambda w, t: _say(w, _tool("recall", query=t), "I know nothing."),
    "consolidation.run": lambda w, t: _consolidate(w, t, ends=False),
    "consolidation.reset": lambda w, t: _consolidate(w, t, ends=True),
}
