"""The learnings commands, and those for the global notes."""

from pathlib import Path

import pytest

from tests.doors.cli.calls import ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.mark.feature("G14")
def test_a_learning_goes_to_the_file_and_back() -> None:
    one = ok("learnings", "add", "Prefers tea").word
    assert ok("learnings", "add", "prefers tea!", "--json").json["learning"]["id"] == one
    path = Path(ok("learnings", "path").out.strip())
    assert ok("learnings", "sync").out == f"{path} was updated\n"
    assert ok("learnings", "sync").out == "nothing had changed\n"
    path.write_text(path.read_text().replace("## Patterns\n", "## Patterns\n- [2024-01-15] Bullets\n"))
    assert ok("learnings", "sync", "--json").json["report"]["added"] == 1
    rows = [line.split("\t") for line in ok("learnings", "list").out.splitlines()]
    assert {(row[1], row[2], row[3], row[4]) for row in rows} >= {("2024-01-15", "pattern", "main", "Bullets")}
    assert ok("learnings", "list", "--category", "preference", "--json").json["learnings"][0]["text"] == "Prefers tea"
    assert one in ok("learnings", "remove", one).out
    ok("learnings", "sync")
    assert "tea" not in path.read_text()


def test_a_conflict_is_told() -> None:
    one = ok("learnings", "add", "Deploy on Monday", "--category", "pattern", "--agent", "coder").word
    ok("learnings", "sync", "--agent", "coder")
    path = Path(ok("learnings", "path", "--agent", "coder", "--json").json["path"])
    path.write_text(path.read_text().replace("Monday", "Friday"))
    ok("memories", "edit", one, "Deploy on Tuesday")
    told = ok("learnings", "sync", "--agent", "coder")
    assert told.err == (
        "line 8 was changed in the file and in the vault; both are kept, look for Conflict in the file\n"
    )


def test_mistakes_are_one_sentence() -> None:
    assert refused("learnings", "add", "x", "--category", "fact").startswith("category 'fact' is unknown")
    assert refused("learnings", "remove", "mem_none").startswith("there is no learning 'mem_none'")
    assert "not both" in refused("learnings", "path", "--agent", "a", "--shared")
    ok("learnings", "sync", "--shared")
    path = Path(ok("learnings", "path", "--shared").out.strip())
    path.write_bytes(b"\xff")
    assert refused("learnings", "sync", "--shared") == (
        f"{path}: is not UTF-8 on line 1; save it as UTF-8; nothing was changed"
    )


@pytest.mark.feature("C12")
def test_the_global_notes_are_shown_and_written() -> None:
    assert "no global notes" in ok("notes", "global", "show").err
    ok("notes", "global", "edit", "-", stdin=b"# Rules\n\nBe brief.\n")
    path = Path(ok("notes", "global", "path").out.strip())
    assert path.read_text() == "# Rules\n\nBe brief.\n"
    assert ok("notes", "global", "show", "--json").json["notes"]["text"] == "# Rules\n\nBe brief.\n"
    assert "nothing to write" in refused("notes", "global", "edit", code=2)
