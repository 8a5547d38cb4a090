"""Each form of transcript that can be followed, read line by line as it grows."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum, Vault
from recollectum.domain.message import Message
from recollectum.transfer.sessions import export_session, import_record
from recollectum.transfer.transcript_reader import TranscriptLineReader

AT = "2026-02-01T10:00:0{}.000Z"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as r:
        yield r


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:alice")


def written(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def grow(path: Path, data: bytes, vault: Vault) -> tuple[int, int]:
    """Let a file grow and sync; how many messages were added, and how many lines were damaged."""
    with path.open("ab") as file:
        file.write(data)
    report = vault.admin.transcripts.sync()
    assert report.skipped == ()
    return report.added, len(report.damage)


def messages(vault: Vault) -> list[Message]:
    (session,) = vault.sessions.list()
    return vault.sessions.chat(session.id).transcript()


def claude(number: int, role: str, content: object, **more: object) -> dict[str, object]:
    message = {"role": role, "content": content, "model": "m-1"}
    line = {"type": role, "uuid": f"u{number}", "sessionId": "s", "timestamp": AT.format(number), "message": message}
    return line | more


def codex(number: int, kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": AT.format(number), "ordinal": number, "type": kind, "payload": payload}


def codex_text(number: int, role: str, text: str) -> dict[str, object]:
    content = [{"type": "input_text", "text": text}]
    return codex(number, "response_item", type="message", id=f"msg_{number}", role=role, content=content)


@pytest.mark.feature("G13")
def test_claude_code(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.touch()
    vault.admin.transcripts.add(path)
    tool = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    first = written(
        {"type": "queue-operation", "sessionId": "s", "timestamp": AT.format(0), "content": "colours"},
        claude(1, "user", "my colour is teal"),
        claude(2, "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "noted"}, tool]),
        claude(3, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "a file"}]),
        claude(4, "user", "<command-name>/compact</command-name>"),
        claude(5, "user", "a summary", isCompactSummary=True),
        claude(6, "assistant", "of a helper", isSidechain=True),
        claude(7, "assistant", "nothing") | {"message": {"content": "nothing", "model": "<synthetic>"}},
    )
    assert grow(path, first, vault) == (2, 0)
    assert grow(path, written(claude(8, "user", "thanks"), {"type": "mode", "mode": "normal"}), vault) == (1, 0)
    found = messages(vault)
    assert [(one.role, one.text, one.native_id) for one in found] == [
        ("user", "my colour is teal", "u1"),
        ("assistant", "noted", "u2"),
        ("user", "thanks", "u8"),
    ]
    (call,) = found[1].tool_calls
    assert (call.name, call.args, found[1].model) == ("Bash", {"command": "ls"}, "m-1")
    assert len(found[1].thoughts) == 1


@pytest.mark.feature("G13")
def test_codex(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.touch()
    vault.admin.transcripts.add(path)
    first = written(
        codex(0, "session_meta", id="c-1", cwd="/p"),
        codex_text(1, "developer", "rules"),
        codex_text(2, "user", "<environment_context>here</environment_context>"),
        codex_text(3, "user", "my colour is teal"),
        codex(4, "event_msg", type="item_completed", item={"content": "my colour is teal"}),
    )
    assert grow(path, first, vault) == (1, 0)
    more = written(
        codex(5, "response_item", type="function_call", name="ls", arguments='{"path": "."}', call_id="k1"),
        codex(6, "response_item", type="custom_tool_call", name="patch", input="not json", call_id="k2"),
        codex(7, "response_item", type="function_call_output", call_id="k1", output="a file"),
        codex_text(8, "assistant", "noted"),
    )
    assert grow(path, more, vault) == (3, 0)
    found = messages(vault)
    assert [one.text for one in found] == ["my colour is teal", "", "", "noted"]
    assert [call.args for one in found for call in one.tool_calls] == [{"path": "."}, {"input": "not json"}]


@pytest.mark.feature("G13")
def test_a_log_of_changes_of_gemini(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.touch()
    vault.admin.transcripts.add(path)
    head = {"sessionId": "g-1", "projectHash": "p", "startTime": AT.format(0), "lastUpdated": AT.format(0)}
    asked = {"id": "m1", "timestamp": AT.format(1), "type": "user", "content": "my colour is teal"}
    told = {"id": "m2", "timestamp": AT.format(2), "type": "gemini", "content": "noted"}
    assert grow(path, written(head, {"$set": {"messages": []}}, asked), vault) == (1, 0)
    assert grow(path, written(told) + b"{torn\n", vault) == (1, 1)
    call: dict[str, object] = {"id": "k1", "name": "ls", "args": {}, "result": "a file", "status": "success"}
    # The torn line was reported once.
    assert grow(path, written({**told, "toolCalls": [call]}, {"$set": {"kind": "main"}}), vault) == (0, 0)
    found = messages(vault)
    assert [one.text for one in found] == ["my colour is teal", "noted"]
    assert found[1].tool_calls[0].result == "a file"
    # The same conversation, brought in by hand, is the same one.
    record = written({**head, "messages": [asked, told]})
    assert import_record(vault, record).added == 0


@pytest.mark.feature("G13")
def test_ours(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    bob = home.vault("user:bob")
    chat = bob.sessions.open(channel="telegram")
    for number in range(4):
        chat.add("user", f"remark {number}")
    header, *said, end = export_session(bob, chat.id)
    path = tmp_path / "ours.jsonl"
    path.touch()
    vault.admin.transcripts.add(path)
    assert grow(path, header + b"".join(said[:2]), vault) == (2, 0)
    assert grow(path, said[2].replace(b"remark", b"remork"), vault) == (0, 1)
    assert grow(path, said[2] + said[3] + end, vault) == (2, 0)
    assert [one.text for one in messages(vault)] == [f"remark {number}" for number in range(4)]
    assert [one.id for one in messages(vault)] == [one.id for one in chat.transcript()]


@pytest.mark.parametrize(
    ("line", "form"),
    [
        (b'{"crc":"00000000","end":{"messages":0}}', "recollectum"),
        (written({"type": "summary", "summary": "x", "leafUuid": "u"}), "claude"),
        (written(codex(0, "session_meta", id="c")), "codex"),
        (written({"sessionId": "g", "startTime": AT.format(0)}), "gemini"),
        (b"not json", None),
        (b"[1]", None),
        (b'{"type": "other"}', None),
    ],
)
def test_a_form_is_told_by_a_line(line: bytes, form: str | None) -> None:
    assert TranscriptLineReader().recognise([b"\xff", line]) == form


def test_older_files_of_openclaw_are_followed(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "openclaw.jsonl"
    path.write_bytes(written({"type": "session", "version": 4, "id": "o", "timestamp": AT.format(0), "cwd": "/"}))
    vault.admin.transcripts.add(path)
    said = {"type": "message", "id": "m1", "timestamp": AT.format(1), "message": {"role": "user", "content": "teal"}}
    assert grow(path, written(said), vault) == (1, 0)
    assert [(one.role, one.text, one.native_id) for one in messages(vault)] == [("user", "teal", "m1")]


def test_what_is_followed_stays_when_its_program_deletes_the_file(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(written(claude(1, "user", "teal")))
    vault.admin.transcripts.add(tmp_path)
    vault.admin.transcripts.sync()
    path.unlink()
    assert vault.admin.transcripts.sync().added == 0
    assert [one.text for one in messages(vault)] == ["teal"]
