"""Every way by which text enters a vault, as something to feed a secret to."""

import json

from recollectum.domain.memory import Kind
from recollectum.domain.message import ToolCall
from recollectum.domain.proposal import Act, Finding
from recollectum.doors.hook.events import read_event
from recollectum.doors.hook.recording import record
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.dispatch import call_tool
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH
from recollectum.doors.mcp.knowledge_graph.file_import import import_file
from recollectum.testing import ScriptedModel
from recollectum.transfer import jsonl
from recollectum.transfer.records import message_to_record, session_to_record
from recollectum.transfer.sessions import export_record, import_record, import_transcript
from recollectum.vault.files.foreign_sources import ForeignConversation
from recollectum.vault.imports.service import handed_in
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from tests.doors.hook.calls import event
from tests.laws.intake_world import Entry, World, talk
from tests.vault.transcript_files import append, said

_HOLE = "a-hole-for-a-secret"


def _finding(content: str, reason: str = "") -> Finding:
    return Finding(act=Act.ADD, content=content, kind=Kind.FACT, importance=0.5, spans=(), reason=reason)


def _approve(world: World, text: str) -> object:
    (laid,) = world.vault.admin.review.propose([_finding("something to approve")])
    return world.vault.admin.review.approve(laid.id, text)


def _record_call(world: World, text: str) -> object:
    chat = world.chat("calls")
    message = chat.add("assistant", "I look", tool_calls=[ToolCall(id="c1", name="look")])
    return chat.record_call(message.id, ToolCall(id="c1", name="look", args={"q": text}, result=[text]))


def _learnings_by_hand(world: World, text: str) -> object:
    world.vault.learnings.sync()
    path = world.vault.learnings.file()
    entry = "\n  ".join(text.split("\n"))
    path.write_text(path.read_text().replace("## Patterns\n", f"## Patterns\n- {entry}\n"))
    report = world.vault.learnings.sync()
    assert report.added == 1
    return report


def _transcript(world: World, text: str) -> object:
    report = import_transcript(world.other, jsonl.write(*talk(text)))
    assert report.added == 1
    return report


def _record(world: World, text: str) -> object:
    chat = world.chat("to-record")
    chat.add("user", _HOLE)
    data = export_record(world.vault, chat.id).replace(_HOLE, json.dumps(text)[1:-1])
    report = import_record(world.other, data.encode())
    assert report.added == 1
    return report


def _followed(world: World, text: str) -> object:
    append(world.folder / "transcripts" / "one.jsonl", said(0, text))
    world.vault.admin.transcripts.add(world.folder / "transcripts")
    report = world.vault.admin.transcripts.sync()
    assert report.added == 1
    return report


def _imported(world: World, text: str) -> object:
    path = append(world.folder / "imported" / "one.jsonl", said(0, text, "an-imported-conversation"))
    done = world.vault.admin.imports.run(world.vault.admin.imports.preview([path]))
    assert sum(one.added for one in done.files) == 1
    return done


def _http_import(world: World, text: str) -> object:
    session, said = talk(text)
    body = {"session": session_to_record(session), "messages": [message_to_record(one) for one in said]}
    return world.served.ask("POST", "/v1/imports", body)


def _handed_in(world: World, text: str) -> object:
    session, said = talk(text)
    found = handed_in([ForeignConversation(session=session), *said], "imp_handed_in")
    done = world.other.admin.imports.add(found)
    assert sum(one.added for one in done.files) == 1
    return done


def _imported_memory(world: World, text: str) -> object:
    path = world.folder / "memories.json"
    path.write_text(json.dumps([{"id": "m1", "memory": text}]))
    done = world.vault.admin.imports.run(world.vault.admin.imports.preview([path]))
    assert sum(one.memories for one in done.files) == 1
    return done


def _notes(world: World, text: str) -> object:
    folder = world.folder / "notes"
    folder.mkdir()
    (folder / "one.md").write_text(f"# A note\n\n{text}\n")
    world.vault.admin.notes.add_folder(folder)
    report = world.vault.admin.notes.sync()
    assert report.added == 1
    return report


def _summary(world: World, text: str) -> object:
    chat = world.chat("long")
    chat.add_many([NewMessage(role="user", content="we moved to Lyon in March " * 40) for _ in range(60)])
    summary = world.vault.sessions.summaries.update(chat.id, model=ScriptedModel([json.dumps({"summary": text})] * 9))
    assert summary is not None
    return summary


def _hook(world: World, prompt: str, answer: str) -> object:
    found = read_event("claude-code", event("Stop", "hooked", last_assistant_message=answer))
    assert found is not None
    done = record(world.vault, found, prompt, lambda _: None)
    assert done.session_id is not None
    return done


def _hook_file(world: World, text: str) -> object:
    path = append(world.folder / "hooked.jsonl", said(0, text))
    found = read_event("claude-code", event("SessionEnd", "hooked-file", transcript_path=str(path)))
    assert found is not None
    done = record(world.vault, found, "", lambda _: None)
    assert done.session_id is not None
    return done


def _graph_file(world: World, text: str) -> object:
    path = world.folder / "graph.jsonl"
    path.write_text(json.dumps({"type": "entity", "name": "Bo", "entityType": "person", "observations": [text]}))
    return import_file(world.vault, str(path))


def _observe(world: World, text: str) -> object:
    client = world.client()
    ann: dict[str, object] = {"name": "Ann", "entityType": "person", "observations": []}
    call_tool(GRAPH, client, "create_entities", {"entities": [ann]})
    return call_tool(GRAPH, client, "add_observations", {"observations": [{"entityName": "Ann", "contents": [text]}]})


def _http_edit(world: World, text: str, root: str) -> object:
    memory = world.vault.memories.save(f"to be edited at {root}")
    answer = world.served.ask("PATCH", f"{root}/{memory.id}", {"content": text})
    assert answer.status == 200
    return answer


def _mem0_edit(world: World, text: str) -> object:
    memory = world.vault.memories.save("to be edited by mem0")
    answer = world.served.ask("PUT", f"/v1/memories/{memory.id}/", {"text": text})
    assert answer.status == 200
    return answer


def _mem0_batch(world: World, text: str) -> object:
    memory = world.vault.memories.save("to be edited by mem0 in a batch")
    answer = world.served.ask("PUT", "/v1/batch/", {"memories": [{"memory_id": memory.id, "text": text}]})
    assert answer.status == 200
    return answer


def _http_message(world: World, text: str) -> object:
    place = f"/v1/sessions/{world.chat('over-http').id}/messages"
    answer = world.served.ask("POST", place, {"role": "user", "content": text})
    assert answer.status == 200
    return answer


def _http_approve(world: World, text: str) -> object:
    (laid,) = world.vault.admin.review.propose([_finding("something to approve over HTTP")])
    answer = world.served.ask("POST", f"/v1/review/{laid.id}/approval", {"content": text})
    assert answer.status == 200
    return answer


#: By the operation or door that takes the text.
ENTRIES: dict[str, Entry] = {
    "memories.save": lambda w, t: w.vault.memories.save(t),
    "memories.save (JSON)": lambda w, t: w.vault.memories.save(json.dumps({"note": t})),
    "memories.save_many": lambda w, t: w.vault.memories.save_many([Draft(content=t)]),
    "memories.edit": lambda w, t: w.vault.memories.edit(w.vault.memories.save("to be edited").id, t),
    "memories.supersede": lambda w, t: w.vault.memories.supersede(w.vault.memories.save("to be superseded").id, t),
    "learnings.save": lambda w, t: w.vault.learnings.save(t, "pattern"),
    "learnings.sync": _learnings_by_hand,
    "review.propose": lambda w, t: w.vault.admin.review.propose([_finding(t)]),
    "review.propose (reason)": lambda w, t: w.vault.admin.review.propose([_finding("for a reason", t)]),
    "review.approve": _approve,
    "shellhistory.add": lambda w, t: w.vault.state.history.add(t),
    "shellhistory.add_many": lambda w, t: w.vault.state.history.add_many([t])[0],
    "interfacestate.save": lambda w, t: w.vault.state.interfaces.save("note", t),
    "interfacestate.save (object)": lambda w, t: w.vault.state.interfaces.save("notes", {"first": [t]}),
    "chat.add": lambda w, t: w.chat("a").add("user", t),
    "chat.add (parts)": lambda w, t: w.chat("b").add("user", [{"type": "text", "text": t}]),
    "chat.add (thoughts)": lambda w, t: w.chat("c").add("assistant", "so", thoughts=[{"text": t}]),
    "chat.add (extra)": lambda w, t: w.chat("d").add("user", "more", extra={"about": t}),
    "chat.add (keys)": lambda w, t: w.chat("k").add("user", "more", extra={t: 1}),
    "chat.add (speaker)": lambda w, t: w.chat("e").add("user", "more", speaker=t),
    "chat.add_many": lambda w, t: w.chat("f").add_many([NewMessage(role="user", content=t)]),
    "vault.learn": lambda w, t: w.vault.learn([{"role": "user", "content": t}], channel="learned"),
    "chat.record_call": _record_call,
    "chat.describe": lambda w, t: w.chat("g").describe(title=t),
    "chat.describe (summary)": lambda w, t: w.chat("h").describe(summary=t),
    "sessions.adopt": lambda w, t: w.other.sessions.adopt(*talk(t)),
    "sessions.adopt (transcript)": _transcript,
    "sessions.adopt (record)": _record,
    "transcripts.sync": _followed,
    "imports.run": _imported,
    "imports.add": _handed_in,
    "imports.run (memory)": _imported_memory,
    "notes.sync": _notes,
    "summaries.update": _summary,
    "hook Stop": lambda w, t: _hook(w, "a question", t),
    "hook UserPromptSubmit": lambda w, t: _hook(w, t, "an answer"),
    "hook SessionEnd": _hook_file,
    "graph import": _graph_file,
    "MCP remember": lambda w, t: call_tool(DEFAULT, w.client(), "remember", {"content": t}),
    "MCP create_entities": lambda w, t: call_tool(
        GRAPH, w.client(), "create_entities", {"entities": [{"name": "Cy", "entityType": "cat", "observations": [t]}]}
    ),
    "MCP create_relations": lambda w, t: call_tool(
        GRAPH, w.client(), "create_relations", {"relations": [{"from": "Cy", "to": "Cy", "relationType": t}]}
    ),
    "MCP add_observations": _observe,
    "HTTP POST /memory/add": lambda w, t: w.served.ask("POST", "/memory/add", {"content": t}),
    "HTTP POST /v1/memories": lambda w, t: w.served.ask("POST", "/v1/memories", {"content": t}),
    "HTTP POST /v3/memories/add/": lambda w, t: w.served.ask(
        "POST", "/v3/memories/add/", {"messages": [{"role": "user", "content": t}], "user_id": "alice"}
    ),
    "HTTP PUT /v1/memories/{memory_id}/": _mem0_edit,
    "HTTP PUT /v1/batch/": _mem0_batch,
    "HTTP PATCH /memory/{memory_id}": lambda w, t: _http_edit(w, t, "/memory"),
    "HTTP PATCH /v1/memories/{memory_id}": lambda w, t: _http_edit(w, t, "/v1/memories"),
    "HTTP POST /v1/sessions/{session_id}/messages": _http_message,
    "HTTP POST /v1/imports": _http_import,
    "HTTP POST /v1/learnings": lambda w, t: w.served.ask("POST", "/v1/learnings", {"text": t, "category": "pattern"}),
    "HTTP POST /v1/review/{proposal_id}/approval": _http_approve,
    "HTTP POST /v1/history": lambda w, t: w.served.ask("POST", "/v1/history", {"command": t}),
    "HTTP PUT /v1/state": lambda w, t: w.served.ask("PUT", "/v1/state", {"key": "http-note", "value": t}),
}

#: Operations that may write and take a str, and why no text of theirs needs an entry.
WITHOUT_TEXT: dict[str, str] = {
    "checkpoints.save": "a name that holds a secret is refused; a test of its own shows it",
    "accounts.add": "a name that holds a secret is refused; a test of its own shows it",
    "accounts.activate": "it names an account that is there, and brings no text",
    "accounts.remove": "it names an account that is there, and brings no text",
    **dict.fromkeys(("tasks.delete", "tasks.extract"), "it names a task, and brings no text"),
    **dict.fromkeys(("trash.add", "trash.restore"), "it names memories that are there, and brings no text"),
    "tasks.save": "a task is in no vault: neither recall nor context sees it",
    "tasks.save_workspace": "a task is in no vault: neither recall nor context sees it",
    "imports.list_places": "it names a folder, and brings no text",
    "imports.preview": "it writes nothing",
    "globalnotesfile.save": "MEMORY.md is the person's own file, and stays as they wrote it",
}
_BY_ID = "it names a thing that is there, and brings no text"
#: Paths through a door that write, and why no text of theirs needs an entry.
PATHS_WITHOUT_TEXT: dict[str, str] = {
    "CLI daemon hosts take": "it names who keeps the files, and brings no text",
    **dict.fromkeys(
        (
            *("HTTP PUT /v1/memories/{memory_id}/state", "HTTP POST /memory/{memory_id}/archive"),
            *("HTTP PATCH /v1/sessions/{session_id}", "HTTP POST /memory/{memory_id}/restore"),
            "HTTP POST /v1/review/{proposal_id}/rejection",
            *("MCP delete_observations", "CLI memories archive", "CLI memories restore", "CLI memories trash restore"),
            "CLI lifecycle restore",
            *("CLI undo last", "CLI undo event", "CLI sessions end", "CLI review grow", "CLI review reject"),
            *("CLI sessions checkpoints resume", "CLI sessions checkpoints fork", "CLI quarantine release"),
            *("CLI notes remove", "CLI sessions transcripts unfollow", "CLI undo import"),
            *("chat /resume", "console POST /console/memories/{memory_id}/archive"),
            "console POST /console/memories/bulk",
            *("console POST /console/memories/{memory_id}/restore", "console POST /console/review/grow"),
            *("console POST /console/review/{proposal_id}/reject", "console POST /console/timeline/undo"),
        ),
        _BY_ID,
    ),
    **dict.fromkeys(
        (
            *("HTTP POST /v1/accounts", "HTTP PUT /v1/accounts/active"),
            *("CLI accounts add", "CLI accounts use"),
        ),
        "an account that holds a secret is refused",
    ),
    "HTTP POST /v1/sessions": "it names an agent, a channel, a group and a topic",
    **dict.fromkeys(
        ("CLI projects add", "CLI projects link", "CLI projects rename"),
        "it names a folder of the person, and a name has small letters, digits and hyphens alone",
    ),
    "CLI notes add": "`notes sync` reads what it names",
    "CLI sessions transcripts follow": "`sessions transcripts sync` reads what it names",
    "CLI sessions checkpoints save": "a name that holds a secret is refused",
    "chat /checkpoint": "a name that holds a secret is refused",
    "CLI tasks load": "it writes files of the person, and nothing in the vault",
    "CLI notes global edit": WITHOUT_TEXT["globalnotesfile.save"],
    "CLI consolidate": "it reads what messages brought; consolidation.run is an entry",
    "chat /reset": "it reads what messages brought; consolidation.reset is an entry",
    "hook SessionStart": "it records what the transcript says, as SessionEnd does",
    "hook PreCompact": "it records what the transcript says, as SessionEnd does",
}
#: Services of the home, whose names and ids are in no vault.
OF_THE_HOME = ("keys.", "people.", "receipts.", "extensions.")
