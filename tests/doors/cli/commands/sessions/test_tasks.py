"""`recollectum tasks`: what its commands do and say, and what they refuse."""

from pathlib import Path

import pytest

from tests.doors.cli.calls import call, ok
from tests.vault.tasks.workspaces import contents, fill


@pytest.mark.feature("C15")
def test_a_task_is_saved_loaded_listed_and_deleted(tmp_path: Path) -> None:
    ok("init")
    workspace = fill(tmp_path / "work")
    (workspace / "out").symlink_to("/etc")
    saved = ok("tasks", "save", "t-1", "--data", '{"state": "working"}', "--workspace", str(workspace))
    assert saved.out.startswith("t-1: version 1, 5 files, 0.2 MiB stored")
    assert "left out: out (a link that leads out of the workspace)" in saved.err
    (workspace / "out").unlink()
    ok("tasks", "load", "t-1", str(tmp_path / "new"))
    assert contents(tmp_path / "new") == contents(workspace)
    assert ok("tasks", "save", "t-1", "--data", "-", "--expect", "1", stdin=b'{"state": "done"}').out.startswith(
        "t-1: version 2"
    )
    (listed,) = ok("tasks", "list", "--json").json["tasks"]
    assert (listed["id"], listed["version"], listed["workspace"]["files"]) == ("t-1", 2, 5)
    assert "0:00 h ago" in ok("tasks", "list").out
    shown = ok("tasks", "show", "t-1").out
    assert '{"state": "done"}' in shown
    assert "out (a link that leads out of the workspace)" in shown
    assert ok("tasks", "delete", "t-1", "--yes").out == "t-1 is deleted\n"
    assert "there is no task" in ok("tasks", "list").err


def test_pages_lead_to_each_other() -> None:
    ok("init")
    for number in range(3):
        ok("tasks", "save", f"t{number}")
    first = ok("tasks", "list", "--limit", "2")
    cursor = first.err.strip().rpartition(" ")[2]
    assert len(ok("tasks", "list", "--limit", "2", "--cursor", cursor, "--json").json["tasks"]) == 1


@pytest.mark.feature("C15")
def test_retention_shows_before_it_deletes() -> None:
    ok("init")
    for number in range(3):
        ok("tasks", "save", f"t{number}")
    seen = ok("tasks", "retain", "--count", "1", "--dry-run", "--json").json["retention"]
    assert [task for task, _ in seen["tasks"]] == ["t0", "t1"]
    refused = call("tasks", "retain", "--count", "1")
    assert refused.code != 0
    assert len(ok("tasks", "list", "--json").json["tasks"]) == 3
    assert "2 tasks deleted" in ok("tasks", "retain", "--count", "1", "--yes").out
    assert [one["id"] for one in ok("tasks", "list", "--json").json["tasks"]] == ["t2"]


@pytest.mark.feature("C15")
def test_the_daemon_keeps_as_many_tasks_as_the_settings_say() -> None:
    ok("init")
    for number in range(3):
        ok("tasks", "save", f"t{number}")
    assert ok("daemon", "run", "tasks").out == "tasks: vaults 1\n"
    assert len(ok("tasks", "list", "--json").json["tasks"]) == 3
    ok("settings", "set", "tasks.keep_count", "1")
    assert "tasks 2" in ok("daemon", "run", "tasks").out
    assert [one["id"] for one in ok("tasks", "list", "--json").json["tasks"]] == ["t2"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("save", "t", "--data", "[1]"), "--data is not a JSON object"),
        (("save", "t", "--data", "{"), "--data is not a JSON object"),
        (("save", "t", "--create", "--expect", "1"), "contradict each other"),
        (("save", "t", "--fresh"), "give --workspace too"),
        (("save", "t", "--workspace", "none"), "is not a folder"),
        (("save", " "), "the id of the task is empty"),
        (("save", "t", "--create"), "has the version 1, not the version 0"),
        (("save", "t", "--expect", "7"), "has the version 1, not the version 7"),
        (("load", "none", "new"), "there is no task 'none'"),
        (("load", "t", "new"), "has no workspace"),
        (("show", "none"), "there is no task 'none'"),
        (("delete", "none", "--yes"), "there is no task 'none'"),
        (("retain", "--days", "-1"), "days cannot be -1"),
    ],
)
def test_nonsense_gets_one_sentence_and_changes_nothing(arguments: tuple[str, ...], why: str) -> None:
    ok("init")
    ok("tasks", "save", "t")
    refused = call("tasks", *arguments)
    assert refused.code != 0
    assert why in refused.err
    assert ok("tasks", "show", "t", "--json").json["task"]["version"] == 1


def test_a_url_with_credentials_is_refused_and_not_shown() -> None:
    ok("init")
    refused = call("settings", "set", "tasks.url", "s3://key:hunter2@bucket/x")
    assert refused.code != 0
    assert "without credentials" in refused.err
    assert ok("settings", "get", "tasks.url").out.strip() in ('""', "")
