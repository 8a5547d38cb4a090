"""Conversations go out of a vault and into another one exactly, and twice is once."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollectum import InvalidInput, Recollectum, ToolCall, Trust, Vault
from recollectum.domain.message import TokenCount, ToolStatus
from recollectum.transfer.sessions import export_record, export_session, import_record, import_transcript


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as r:
        yield r


@pytest.fixture
def alice(home: Recollectum) -> Vault:
    vault = home.vault("user:alice")
    chat = vault.sessions.open(channel="telegram", agent="coder", group="7", topic="ops")
    chat.add("user", "please restart the server 🚀", native_id="u1", speaker="alice")
    call = ToolCall(id="c1", name="shell", args={"command": "restart"}, result=["ok"], status=ToolStatus.COMPLETE)
    chat.add(
        "assistant",
        [{"text": "done"}, {"image": "x.png"}],
        tool_calls=[call],
        thoughts=[{"subject": "plan"}],
        tokens=TokenCount(input=3, output=2, total=5),
        model="m-1",
        extra={"finish": "stop"},
    )
    chat.describe(title="restart", summary="a restart")
    return vault


def session_of(vault: Vault) -> str:
    return vault.sessions.list()[0].id


@pytest.mark.feature("G12")
def test_a_transcript_round_trips_to_the_byte(home: Recollectum, alice: Vault) -> None:
    lines = list(export_session(alice, session_of(alice)))
    bob = home.vault("user:bob")
    report = import_transcript(bob, lines)
    assert (report.added, report.known, report.damage) == (2, 0, ())
    assert list(export_session(bob, report.session.id)) == lines


def test_bringing_it_in_again_changes_nothing(home: Recollectum, alice: Vault) -> None:
    lines = list(export_session(alice, session_of(alice)))
    bob = home.vault("user:bob")
    import_transcript(bob, lines)
    again = import_transcript(bob, lines)
    assert (again.added, again.known) == (0, 2)
    assert list(export_session(bob, again.session.id)) == lines


def test_what_was_brought_in_is_found_but_not_believed_as_the_owners_word(home: Recollectum, alice: Vault) -> None:
    bob = home.vault("user:bob")
    import_transcript(bob, export_session(alice, session_of(alice)))
    hits = bob.recall("restart server")
    assert hits
    assert {hit.trust for hit in hits} <= {Trust.IMPORTED, Trust.UNKNOWN}
    assert {hit.trust for hit in alice.recall("restart server")} == {Trust.OWNER}


def test_a_damaged_line_costs_only_itself(home: Recollectum, alice: Vault) -> None:
    lines = list(export_session(alice, session_of(alice)))
    lines[1] = lines[1].replace(b"server", b"sewer")
    bob = home.vault("user:bob")
    report = import_transcript(bob, lines)
    assert (report.added, [damage.line for damage in report.damage]) == (1, [2])
    assert bob.recall("sewer") == []


def test_a_lost_header_loses_no_message(home: Recollectum, alice: Vault) -> None:
    lines = list(export_session(alice, session_of(alice)))[1:]
    report = import_transcript(home.vault("user:bob"), lines)
    assert report.added == 2


def test_strict_refuses_and_leaves_nothing_behind(home: Recollectum, alice: Vault) -> None:
    lines = list(export_session(alice, session_of(alice)))[:-1]
    bob = home.vault("user:bob")
    with pytest.raises(InvalidInput, match="line 4"):
        import_transcript(bob, lines, strict=True)
    assert bob.sessions.list() == []


def test_no_transcript_is_said_in_words(home: Recollectum) -> None:
    with pytest.raises(InvalidInput, match="not a transcript"):
        import_transcript(home.vault("user:bob"), [b"hello\n"])


@pytest.mark.feature("C4")
def test_a_gemini_record_grows_without_doubling(home: Recollectum) -> None:
    record: dict[str, Any] = {
        "sessionId": "abc",
        "projectHash": "9f" * 32,
        "startTime": "2026-01-01T00:00:00.000Z",
        "lastUpdated": "2026-01-01T00:00:05.000Z",
        "messages": [
            {"id": "1", "timestamp": "2026-01-01T00:00:01.000Z", "type": "user", "content": "My colour is teal"},
            {"id": "2", "timestamp": "2026-01-01T00:00:02.000Z", "type": "gemini", "content": "Noted."},
        ],
    }
    vault = home.vault("user:carol")
    first = import_record(vault, json.dumps(record).encode())
    assert (first.added, first.known) == (2, 0)
    assert json.loads(export_record(vault, first.session.id)) == record
    third = {"id": "3", "timestamp": "2026-01-01T00:00:03.000Z", "type": "user", "content": "And my dog is Rex"}
    record["messages"] = [*record["messages"], third]
    again = import_record(vault, json.dumps(record).encode())
    assert (again.session.id, again.added, again.known) == (first.session.id, 1, 2)
    assert [message.text for message in vault.sessions.chat(first.session.id).transcript()][-1] == "And my dog is Rex"
