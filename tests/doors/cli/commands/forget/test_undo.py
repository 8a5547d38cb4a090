"""The commands of the way back: undo, diff, trash and the reports of sweeps."""

from datetime import UTC, datetime, timedelta

import pytest

from recollectum import Recollectum
from tests.doors.cli.calls import call, ok, refused
from tests.doors.cli.terminals import Terminal

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


def contents() -> list[str]:
    return sorted(one["content"] for one in ok("memories", "list", "--json").json["memories"])


def forgotten(text: str, days: int) -> str:
    """A memory that was forgotten some days ago."""
    then = datetime.now(UTC) - timedelta(days=days)
    with Recollectum(clock=lambda: then) as r:
        memories = r.vault("user:ada").memories
        memory = memories.save(text).memory
        memories.forget(memory.id)
    return memory.id


def test_undo_takes_back_the_last_change_says_so_and_tells_how_to_redo() -> None:
    memory = ok("remember", "tea").word
    ok("memories", "edit", memory, "coffee")
    done = ok("undo", "last")
    assert done.out.startswith(f"undone: {memory} edited by ")
    assert contents() == ["tea"]
    redo = done.err.strip().removeprefix("to redo it: recollectum ")
    ok(*redo.split())
    assert contents() == ["coffee"]
    listed = ok("undo", "list", "--json").json["steps"]
    assert [step["type"] for step in listed[-2:]] == ["edited", "created"]
    assert contents() == ["coffee"]


def test_undo_says_in_words_what_it_cannot() -> None:
    assert "no change that can be undone" in refused("undo", "last")
    kept = ok("remember", "kept").word
    gone = ok("remember", "gone for good").word
    ok("purge", "memory", gone, "--yes")
    assert "destroyed for good" in refused("undo", "last")
    done = ok("undo", "last", "9")
    assert kept in done.out
    assert f"not undone: memory '{gone}' was destroyed for good" in done.err
    assert "is not an event" in refused("undo", "event", "abc", code=2)
    assert "there is no run" in refused("undo", "event", "run_none")


def test_diff_reads_as_one_and_shows_nothing_deleted() -> None:
    forgotten("the blue kingfisher", 3)
    old = ok("remember", "tea").word
    ok("memories", "edit", old, "coffee")
    shown = ok("undo", "diff", "--since", "2020-01-01")
    assert shown.out == f"+ {old} coffee\n"
    assert "1 memory learned since 2020-01-01" in shown.err
    since = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    assert ok("undo", "diff", "--since", since, "--json").json["diff"]["learned"][0]["content"] == "coffee"
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert "nothing changed" in ok("undo", "diff", "--since", tomorrow).err


@pytest.mark.feature("M8")
def test_the_trash_gives_back_a_day_after_a_look_and_a_yes() -> None:
    # The older one first: a vault's clock does not go back.
    forgotten("of another day", 5)
    memory = forgotten("the blue kingfisher", 3)
    day = f"{datetime.now(UTC) - timedelta(days=3):%Y-%m-%d}"
    assert ok("memories", "trash", "list", "--deleted-on", day).out.startswith(memory)
    unasked = call("memories", "trash", "restore", "--deleted-on", day)
    assert unasked.code == 2
    assert f"{memory} the blue kingfisher" in unasked.err
    assert "no terminal to ask" in unasked.err
    assert ok("memories", "trash", "restore", "--deleted-on", day, "--dry-run").out.startswith(memory)
    assert contents() == []
    with Terminal("memories", "trash", "restore", "--deleted-on", day) as terminal:
        terminal.wait_for("1 memory would be active again. Continue? [y/N]")
        terminal.press("n\n")
        assert terminal.end() == 1
    assert contents() == []
    assert ok("memories", "trash", "restore", "--deleted-on", day, "--yes").out == f"{memory} is active again\n"
    assert contents() == ["the blue kingfisher"]
    assert "choose what to restore" in refused("memories", "trash", "restore", code=2)
    assert "not both" in refused("memories", "trash", "list", "--deleted-on", day, "--since", day, code=2)


@pytest.mark.feature("P6")
def test_the_first_destroying_sweep_asks_and_every_sweep_is_reported() -> None:
    forgotten("the blue kingfisher", 10)
    ok("daemon", "run", "retention")
    waiting = call("lifecycle", "reports")
    assert "needs_confirmation" in waiting.out
    assert "recollectum lifecycle run --yes" in waiting.err
    assert "1 memory would be destroyed for good" in refused("lifecycle", "run", code=2)
    assert ok("lifecycle", "run", "--yes").out == "1 memory marked for destruction\n1 memory destroyed\n"
    assert ok("lifecycle", "run").out == "nothing moved\n"
    states = [one["state"] for one in ok("lifecycle", "reports", "--json").json["sweeps"]]
    assert states == ["done", "done", "needs_confirmation"]
    assert "kingfisher" not in ok("lifecycle", "reports", "--json").out


def test_a_purge_that_cannot_ask_erases_nothing_and_says_so() -> None:
    memory = ok("remember", "tea").word
    said = call("purge", "memory", memory)
    assert said.code == 2
    assert "Nothing was erased. This would permanently erase 1 memory" in said.err
    assert "add --yes to confirm" in said.err
    assert contents() == ["tea"]
