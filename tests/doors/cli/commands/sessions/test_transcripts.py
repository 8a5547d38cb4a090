"""The transcripts commands."""

from pathlib import Path

import pytest

from tests.doors.cli.calls import ok, refused
from tests.vault.transcript_files import append, lines, said

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.mark.feature("G13")
def test_a_place_is_followed_listed_synced_and_let_go(tmp_path: Path) -> None:
    path = append(tmp_path / "logs" / "one.jsonl", lines(range(3)))
    folder = str(tmp_path / "logs")
    assert "nothing is followed" in ok("sessions", "transcripts", "list").err
    followed = ok("sessions", "transcripts", "follow", folder, "--agent", "coder", "--channel", "term")
    assert followed.out.splitlines() == [f"{folder} is followed", "3 messages added"]
    assert "remark2" in ok("recall", "remark2").out
    assert ok("sessions", "transcripts", "list").out.startswith(f"{folder}\t1\tcoder\tterm\t")
    assert ok("sessions", "transcripts", "list", "--json").json["followed"][0]["files"] == 1
    assert ok("sessions", "transcripts", "sync").out == "1 file as before\n"
    append(path, b"torn\n" + said(3))
    synced = ok("sessions", "transcripts", "sync")
    assert synced.out == "1 message added\n"
    assert synced.err.startswith(f"{path} line 4: it is not JSON")
    append(path, said(4))
    report = ok("sessions", "transcripts", "sync", "--json").json["report"]
    assert (report["added"], report["damage"], report["skipped"]) == (1, [], [])
    assert ok("sessions", "transcripts", "unfollow", folder).out == "1 file unfollowed\n"
    assert "remark2" in ok("recall", "remark2").out


def test_what_cannot_be_is_refused_in_words(tmp_path: Path) -> None:
    assert "neither a file nor a folder" in refused("sessions", "transcripts", "follow", str(tmp_path / "none"))
    assert "is not followed" in refused("sessions", "transcripts", "unfollow", str(tmp_path))
    assert "--agent is empty" in refused("sessions", "transcripts", "follow", str(tmp_path), "--agent", "", code=2)


def test_many_reasons_are_cut_short(tmp_path: Path) -> None:
    append(tmp_path / "one.jsonl", said(0) + b"torn\n" * 25)
    told = ok("sessions", "transcripts", "follow", str(tmp_path / "one.jsonl")).err.splitlines()
    assert len(told) == 21
    assert told[-1] == "and 5 more; --json names them all"
