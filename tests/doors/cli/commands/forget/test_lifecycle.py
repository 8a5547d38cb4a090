"""The life-cycle commands, with memories whose past was made by another clock."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from tests.doors.cli.calls import call, ok, refused
from tests.doors.cli.terminals import Terminal
from tools.demo import search

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


def forgotten(days: int) -> str:
    """A memory that was forgotten some days ago."""
    then = datetime.now(UTC) - timedelta(days=days)
    with Recollectum(clock=lambda: then) as r:
        memories = r.vault("user:ada").memories
        memory = memories.save("the blue kingfisher").memory
        memories.forget(memory.id)
    return memory.id


@pytest.mark.feature("M3")
def test_preview_says_what_would_move_when_and_why() -> None:
    memory = ok("remember", "the sky is blue", "--ttl", "30d").word
    now = ok("lifecycle", "preview")
    assert (now.out, now.err) == ("", "nothing is due\n")
    rows = [line.split("\t") for line in ok("lifecycle", "preview", "--at", "+60d").out.splitlines()]
    assert [row[0] for row in rows] == [memory] * 3
    assert [row[2:] for row in rows] == [
        ["active", "soft_deleted", "its time to live is over"],
        ["soft_deleted", "hard_delete_pending", "its grace window is over"],
        ["hard_delete_pending", "purged", "its grace window is over"],
    ]
    assert ok("memories", "show", memory, "--json").json["memory"]["state"] == "active"


@pytest.mark.feature("M1")
def test_run_destroys_only_with_yes_where_nobody_can_be_asked() -> None:
    memory = forgotten(10)
    assert "1 memory would be destroyed for good" in refused("lifecycle", "run", code=2)
    assert len(ok("lifecycle", "preview").out.splitlines()) == 2
    report = ok("lifecycle", "run", "--yes", "--json").json["report"]
    assert (report["purged"], report["erased"], report["held_since"]) == (1, True, None)
    assert ok("lifecycle", "run").out == "nothing moved\n"
    assert "there is no memory" in refused("memories", "restore", memory)


@pytest.mark.parametrize(("typed", "code", "left"), [("n\n", 1, 2), ("y\n", 0, 0)])
def test_run_asks_on_a_terminal(typed: str, code: int, left: int) -> None:
    forgotten(10)
    with Terminal("lifecycle", "run") as terminal:
        terminal.wait_for("1 memory would be destroyed for good. Continue? [y/N]")
        terminal.press(typed)
        assert terminal.end() == code
    assert len(ok("lifecycle", "preview").out.splitlines()) == left


@pytest.mark.feature("M2")
def test_a_step_that_destroys_nothing_needs_no_yes() -> None:
    then = datetime.now(UTC) - timedelta(days=20)
    ok("settings", "set", "lifecycle.active_days", "10")
    with Recollectum(clock=lambda: then) as r:
        r.vault("user:ada").memories.save("the sky is blue")
    assert ok("lifecycle", "run").out == "1 memory archived\n"


def test_a_leap_of_the_clock_is_explained_with_its_cure() -> None:
    memory = forgotten(100)
    preview = ok("lifecycle", "preview")
    assert "If the clock is right, run: recollectum lifecycle run --accept-clock" in preview.err
    held = call("lifecycle", "run", "--yes", "--json")
    assert held.code == 1
    assert held.json["report"]["held_since"] is not None
    assert "A jump that long usually means a wrong clock" in held.err
    assert "is deleted" in refused("memories", "show", memory)
    assert "in doubt" in ok("status").out
    assert "1 memory destroyed" in ok("lifecycle", "run", "--yes", "--accept-clock").out
    assert ok("status", "--json").json["vault"]["clock_held"] is False


@pytest.mark.feature("M7")
def test_every_step_left_an_event() -> None:
    memory = forgotten(10)
    ok("lifecycle", "run", "--yes")
    rows = [line.split("\t") for line in ok("events").out.splitlines()]
    assert [(row[2], row[4]) for row in rows if row[3] == memory] == [
        ("purged", "lifecycle"),
        ("delete_due", "lifecycle"),
        ("deleted", "process"),
        ("created", "process"),
    ]
    assert len(ok("events", "--type", "purged").out.splitlines()) == 1
    assert len(ok("events", "--limit", "2").out.splitlines()) == 2
    assert ok("events", "--before", "2").out.split("\t")[0] == "1"
    assert "event type 'nope' is unknown" in refused("events", "--type", "nope")


def test_what_was_destroyed_is_nowhere_in_the_files() -> None:
    forgotten(10)
    ok("lifecycle", "run", "--yes")
    _, found = search(Path(ok("settings", "path").word).parent, ["kingfisher"])
    assert found == 0


@pytest.mark.feature("M2")
def test_retention_is_shown_and_chosen_by_its_preset() -> None:
    ok("remember", "my blood type is O negative")
    stays = "memories stay until they are forgotten; what is deleted can be restored for 7 days\n"
    assert ok("lifecycle", "retention").out == stays
    assert ok("lifecycle", "retention", "expire").out == (
        "tenant default: expire (active 90, archive 60 days; 0 is for ever)\n"
    )
    assert ok("lifecycle", "retention").out == (
        "memories are archived after 90 days without use and deleted 60 days later; "
        "what is deleted can be restored for 7 days\n"
    )
    shown = ok("lifecycle", "retention", "--json").json["retention"]
    assert shown == {"active_days": 90, "archive_days": 60, "grace_days": 7, "agents": {}}
    assert "its active time is over" in ok("lifecycle", "preview", "--at", "+91d").out
    ok("lifecycle", "retention", "keep")
    assert ok("lifecycle", "retention").out == stays
    assert ok("lifecycle", "preview", "--at", "+5000d").out == ""


def test_an_unknown_preset_changes_nothing() -> None:
    ok("remember", "my blood type is O negative")
    assert "retention preset 'never' is unknown; use one of keep, expire" in refused("lifecycle", "retention", "never")
    assert "there is no tenant 'acme'" in refused("lifecycle", "retention", "keep", "--tenant", "acme")
    assert "name a preset with --tenant" in refused("lifecycle", "retention", "--tenant", "default", code=2)


@pytest.mark.feature("M8")
def test_what_age_archived_comes_back_with_one_command() -> None:
    then = datetime.now(UTC) - timedelta(days=20)
    ok("settings", "set", "lifecycle.active_days", "10")
    with Recollectum(clock=lambda: then) as r:
        r.vault("user:ada").memories.save("the sky is blue")
    assert ok("lifecycle", "run").out == "1 memory archived\n"
    ok("settings", "unset", "lifecycle.active_days")
    assert "archived\tthe sky is blue" in ok("lifecycle", "restore", "--dry-run").out
    assert ok("recall", "sky").out == ""
    assert "is active again" in ok("lifecycle", "restore").out
    assert "the sky is blue" in ok("recall", "sky").out
    assert "no memory that age archived or deleted can be restored" in ok("lifecycle", "restore").err
    assert "no memory that age archived or deleted can be restored" in ok("lifecycle", "restore", "--dry-run").err
