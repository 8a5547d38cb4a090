"""Recording: each word once, in order, as the person's own, whatever happens to the session or the file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import InvalidInput
from recollectum.domain.trust import Trust
from recollectum.doors.hook.events import HookEvent, read_event
from recollectum.doors.hook.recording import record, sessions_of
from recollectum.vault.intake.new_message import MAX_TEXT
from recollectum.vault.vault import Vault
from tests.doors.hook.calls import event
from tests.vault.transcript_files import CONVERSATION, append, kept, lines, remarks, said

pytestmark = pytest.mark.process


@pytest.fixture
def vault() -> Iterator[Vault]:
    with Recollectum(settings={"encryption": "off"}) as recollectum:
        yield recollectum.vault("user:ada")


def _stop(path: Path | None, answer: str = "", name: str = "Stop") -> HookEvent:
    fields = event(name, CONVERSATION, last_assistant_message=answer, transcript_path=str(path) if path else None)
    found = read_event("claude-code", fields)
    assert found is not None
    return found


def _never(_: float) -> None:
    raise AssertionError("it waited")


def test_words_are_the_persons_own_and_come_once(vault: Vault, tmp_path: Path) -> None:
    path = append(tmp_path / "talk.jsonl", lines(range(4)))
    for _ in range(2):
        record(vault, _stop(path), "", _never)
    session_id = record(vault, _stop(path), "", _never).session_id
    assert kept(vault) == remarks(range(4))
    assert session_id is not None
    said_there = vault.sessions.chat(session_id).messages()
    assert [one.trust for one in said_there] == [Trust.OWNER, Trust.ASSISTANT] * 2
    assert not vault.sessions.get(session_id).imported


def test_a_session_that_was_ended_meanwhile_doubles_nothing(vault: Vault, tmp_path: Path) -> None:
    path = append(tmp_path / "talk.jsonl", lines(range(4)))
    first = record(vault, _stop(path), "", _never).session_id
    assert first is not None
    vault.sessions.chat(first).end()
    append(path, lines(range(4, 6)))
    second = record(vault, _stop(path), "", _never).session_id
    assert second != first
    assert kept(vault) == remarks(range(6))
    assert len(sessions_of(vault, _stop(path))) == 2


def test_a_transcript_that_is_followed_is_left_to_the_follower(vault: Vault, tmp_path: Path) -> None:
    path = append(tmp_path / "talk.jsonl", lines(range(4)))
    vault.admin.transcripts.add(tmp_path)
    assert record(vault, _stop(path), "", _never).session_id is None
    assert kept(vault) == remarks(range(4))


def test_last_words_that_are_not_in_the_file_yet_are_waited_for(vault: Vault, tmp_path: Path) -> None:
    path = append(tmp_path / "talk.jsonl", lines(range(1)))
    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        append(path, said(1, "the very last words"))

    record(vault, _stop(path, "the very last words"), "", pause)
    assert len(waited) == 1
    assert len(kept(vault)) == 2


def test_words_that_never_come_are_not_waited_for_for_ever(vault: Vault, tmp_path: Path) -> None:
    path = append(tmp_path / "talk.jsonl", lines(range(2)))
    waited: list[float] = []
    record(vault, _stop(path, "something else"), "", waited.append)
    assert sum(waited) <= 5
    assert kept(vault) == remarks(range(2))


@pytest.mark.parametrize("data", [None, b"", b"no transcript at all\n"])
def test_without_a_readable_transcript_the_event_itself_is_kept(
    vault: Vault, tmp_path: Path, data: bytes | None
) -> None:
    path = tmp_path / "talk.jsonl"
    if data is not None:
        path.write_bytes(data)
    record(vault, _stop(path, "an answer"), "a question", _never)
    assert kept(vault) == ["a", "an"]


def test_a_line_that_is_half_written_comes_the_next_time(vault: Vault, tmp_path: Path) -> None:
    whole = said(2)
    path = append(tmp_path / "talk.jsonl", lines(range(2)) + whole[:20])
    record(vault, _stop(path), "", _never)
    assert kept(vault) == remarks(range(2))
    append(path, whole[20:])
    record(vault, _stop(path), "", _never)
    assert kept(vault) == remarks(range(3))


def test_words_that_are_too_long_open_no_session(vault: Vault) -> None:
    with pytest.raises(InvalidInput, match="too long"):
        record(vault, _stop(None, "x" * (MAX_TEXT + 1)), "a question", _never)
    assert vault.sessions.list() == []
