"""Transcripts that grow: read on by whole lines, once each, whatever happens to the file."""

import json
import os
from pathlib import Path

import pytest

from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.vault.transcript_files import append, kept, lines, remarks, said


@pytest.fixture
def folder(tmp_path: Path, vault: Vault) -> Path:
    made = tmp_path / "projects"
    made.mkdir()
    vault.admin.transcripts.add(made)
    return made


@pytest.mark.feature("G13")
def test_a_file_is_read_on_where_it_grew(vault: Vault, folder: Path) -> None:
    path = append(folder / "a" / "one.jsonl", lines(range(3)))
    report = vault.admin.transcripts.sync()
    assert (report.files, report.added, report.complete) == (1, 3, True)
    append(path, lines(range(3, 5)))
    report = vault.admin.transcripts.sync()
    assert (report.added, report.known, report.reread) == (2, 0, 0)
    assert kept(vault) == remarks(range(5))
    assert vault.admin.transcripts.sync().unchanged == 1
    (hit,) = vault.recall("remark4")
    assert (hit.trust, hit.source.position) == ("imported", 5)
    (session,) = vault.sessions.list()
    assert (str(session.key), session.imported) == (
        f"agent:claude-code:cli:direct:topic:{session.extra['native_id']}",
        True,
    )


def test_a_line_that_is_being_written_waits(vault: Vault, folder: Path) -> None:
    line = said(1)
    path = append(folder / "one.jsonl", said(0) + line[:40])
    assert vault.admin.transcripts.sync().added == 1
    append(path, line[40:-1])
    report = vault.admin.transcripts.sync()
    assert (report.added, report.damage) == (0, ())
    append(path, line[-1:])
    assert vault.admin.transcripts.sync().added == 1
    assert kept(vault) == remarks(range(2))


def test_a_bad_line_costs_itself_and_is_named(vault: Vault, folder: Path) -> None:
    path = append(folder / "one.jsonl", said(0) + b"{torn\n" + said(1))
    vault.admin.transcripts.sync()
    append(path, said(2) + b"\xff\n" + said(3))
    report = vault.admin.transcripts.sync()
    assert kept(vault) == remarks(range(4))
    ((where, line, why),) = report.damage
    assert (where, line, why) == (str(path), 5, "it is not UTF-8")


def test_an_overlong_line_is_passed_over(vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The real limits, made small: files of tens of megabytes are no quick test.
    monkeypatch.setattr("recollectum.vault.files.transcript_files.BATCH_BYTES", 512)
    monkeypatch.setattr("recollectum.vault.files.transcript_files.MAX_LINE", 2048)
    append(folder / "one.jsonl", said(0) + said(1, "remark1 " + "x" * 1000) + said(2, "y" * 3000) + said(3))
    report = vault.admin.transcripts.sync()
    assert kept(vault) == ["remark0", "remark1", "remark3"]
    assert [line for _, line, _ in report.damage] == [3]


@pytest.mark.feature("G13")
@pytest.mark.parametrize("how", ["truncated", "replaced", "rewritten", "front cut off"])
def test_a_file_that_is_not_what_it_was_is_read_anew_without_doubles(vault: Vault, folder: Path, how: str) -> None:
    path = append(folder / "one.jsonl", lines(range(40)))
    vault.admin.transcripts.sync()
    if how == "truncated":
        path.write_bytes(lines(range(10)))
    elif how == "replaced":
        other = folder / "other"
        other.write_bytes(lines(range(45)))
        other.replace(path)
    elif how == "rewritten":
        path.write_bytes(said(0).replace(b'"parentUuid"', b'"grandUuid"') + lines(range(1, 60)))
    else:
        path.write_bytes(lines(range(20, 70)))
    report = vault.admin.transcripts.sync()
    most = {"truncated": 40, "replaced": 45, "rewritten": 60, "front cut off": 70}[how]
    # A copy that begins with the same bytes is simply read on.
    assert report.reread == (how != "replaced")
    assert kept(vault) == remarks(range(most))
    assert len(vault.sessions.list()) == 1


def test_another_conversation_under_the_same_name_is_another_session(vault: Vault, folder: Path) -> None:
    path = append(folder / "one.jsonl", lines(range(3)))
    vault.admin.transcripts.sync()
    path.write_bytes(lines(range(10, 12), conversation="another"))
    assert vault.admin.transcripts.sync().added == 2
    assert [session.message_count for session in vault.sessions.list()] == [2, 3]


def test_a_renamed_or_copied_file_adds_nothing(vault: Vault, folder: Path) -> None:
    path = append(folder / "one.jsonl", lines(range(5)))
    vault.admin.transcripts.sync()
    path.rename(folder / "two.jsonl")
    append(folder / "three.jsonl", lines(range(5)))
    report = vault.admin.transcripts.sync()
    assert (report.added, report.known) == (0, 10)


def test_what_a_program_deletes_later_stays(vault: Vault, folder: Path) -> None:
    path = append(folder / "one.jsonl", lines(range(5)))
    vault.admin.transcripts.sync()
    path.write_bytes(lines(range(2)))
    assert vault.admin.transcripts.sync().complete
    path.unlink()
    assert vault.admin.transcripts.sync().complete
    assert kept(vault) == remarks(range(5))
    assert vault.recall("remark4")
    # Gemini CLI withdraws messages, and replaces the whole list when it compresses.
    begins = {
        "sessionId": "s",
        "projectHash": "h",
        "startTime": "2026-02-01T10:00:00Z",
        "lastUpdated": "2026-02-01T10:00:00Z",
    }
    log = append(folder / "session-1.jsonl", json.dumps(begins).encode() + b"\n")
    for id_ in ("g1", "g2"):
        one = {"id": id_, "timestamp": "2026-02-01T10:00:00Z", "type": "user", "content": f"{id_} about a boat"}
        append(log, json.dumps(one).encode() + b"\n")
    vault.admin.transcripts.sync()
    append(log, b'{"$rewindTo": "g2"}\n')
    vault.admin.transcripts.sync()
    append(log, b'{"$set": {"messages": []}}\n')
    vault.admin.transcripts.sync()
    assert kept(vault) == [*remarks(range(5)), "g1", "g2"]


def test_a_deleted_session_does_not_come_back(vault: Vault, folder: Path) -> None:
    path = append(folder / "one.jsonl", lines(range(3)))
    vault.admin.transcripts.sync()
    vault.sessions.delete(vault.sessions.list()[0].id)
    append(path, said(3))
    ((_, why),) = vault.admin.transcripts.sync().skipped
    assert "was deleted" in why
    path.write_bytes(lines(range(2)))
    vault.admin.transcripts.sync()
    assert vault.sessions.list() == []
    path.write_bytes(lines(range(2), conversation="another"))
    assert vault.admin.transcripts.sync().added == 2


def test_what_is_no_transcript_is_said_once(vault: Vault, folder: Path, tmp_path: Path) -> None:
    append(folder / "data.jsonl", b'{"a": 1}\n[2]\n')
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to(append(tmp_path / "outside.jsonl", lines(range(2))))
    skipped = vault.admin.transcripts.sync().skipped
    assert [(Path(path).name, why) for path, why in skipped] == [
        ("data.jsonl", "is not a transcript of a known form"),
        ("pipe.jsonl", "is not a regular file"),
    ]
    assert [Path(path).name for path, _ in vault.admin.transcripts.sync().skipped] == ["pipe.jsonl"]
    assert kept(vault) == []


def test_a_file_that_cannot_be_kept_does_not_hold_up_the_others(vault: Vault, folder: Path) -> None:
    append(folder / "a.jsonl", lines(range(2), conversation="no\nname"))
    append(folder / "b.jsonl", lines(range(2)))
    report = vault.admin.transcripts.sync()
    assert report.added == 2
    assert [Path(path).name for path, _ in report.skipped] == ["a.jsonl"]


def test_places_are_followed_and_let_go(vault: Vault, folder: Path, tmp_path: Path) -> None:
    append(folder / "one.jsonl", lines(range(3)))
    vault.admin.transcripts.sync()
    (place,) = vault.admin.transcripts.list()
    assert (place.path, place.files) == (str(folder), 1)
    assert vault.admin.transcripts.add(folder) == place
    with pytest.raises(Conflict):
        vault.admin.transcripts.add(folder / "one.jsonl")
    with pytest.raises(Conflict):
        vault.admin.transcripts.add(folder, agent="other")
    with pytest.raises(InvalidInput):
        vault.admin.transcripts.add(tmp_path / "nothing")
    assert vault.admin.transcripts.remove(folder) == 1
    with pytest.raises(NotFound):
        vault.admin.transcripts.remove(folder)
    append(folder / "one.jsonl", said(3))
    assert vault.admin.transcripts.sync().added == 0
    assert kept(vault) == remarks(range(3))
    vault.admin.transcripts.add(folder)
    report = vault.admin.transcripts.sync()
    assert (report.added, report.known) == (1, 3)


def test_sessions_are_kept_under_the_given_agent_and_channel(vault: Vault, tmp_path: Path) -> None:
    path = append(tmp_path / "log.txt", lines(range(2)))
    vault.admin.transcripts.add(path, agent="coder", channel="terminal")
    vault.admin.transcripts.sync()
    (session,) = vault.sessions.list()
    assert (session.key.agent, session.key.channel) == ("coder", "terminal")


@pytest.mark.feature("G20")
@pytest.mark.parametrize("event", ["on_search", "on_session_start"])
@pytest.mark.parametrize("value", ["on", "off"])
def test_a_search_or_a_new_session_reads_on_when_it_is_wanted(
    place: Path, folder: Path, clock: Turning, event: str, value: str
) -> None:
    append(folder / "one.jsonl", lines(range(3)))
    other = "on_session_start" if event == "on_search" else "on_search"
    wanted = {f"transcripts.{event}": value, f"transcripts.{other}": "off"}
    with open_home(place, clock, settings=wanted) as home:
        vault = home.vault("user:alice")
        if event == "on_search":
            assert bool(vault.recall("remark1")) == (value == "on")
        else:
            vault.sessions.open(channel="new")
        assert (len(kept(vault)) == 3) == (value == "on")


@pytest.mark.feature("G20")
def test_two_looks_of_searches_are_apart(place: Path, folder: Path, clock: Turning) -> None:
    append(folder / "one.jsonl", lines(range(1)))
    for seconds, count in ((3600, 1), (0, 2)):
        with open_home(place, clock, settings={"transcripts.debounce_seconds": seconds}) as home:
            vault = home.vault("user:alice")
            vault.recall("anything")
            append(folder / "one.jsonl", lines(range(10 * count, 10 * count + 1)))
            before = len(kept(vault))
            vault.recall("anything")
            assert len(kept(vault)) - before == (seconds == 0)
