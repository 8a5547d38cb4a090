"""The settings commands: what is in force, where it came from, and changing one's own file."""

import json
import os
import resource
from pathlib import Path

import pytest

from tests.doors.cli.calls import call, ok, refused

pytestmark = pytest.mark.process


def home() -> Path:
    return Path(os.environ["RECOLLECTUM_HOME"])


@pytest.mark.feature("C1")
def test_show_says_where_each_value_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    project = Path.cwd() / ".recollectum"
    project.mkdir()
    (project / "settings.toml").write_text("[recall]\nlimit = 4\n")
    ok("projects", "trust", ".", "--yes")
    ok("settings", "set", "lifecycle.grace_days", "14")
    monkeypatch.setenv("RECOLLECTUM_ISOLATION", "agent")
    found = ok("settings", "show", "--json").json["settings"]
    assert found["lifecycle.grace_days"] == {
        "value": 14,
        "origin": {"scope": "user", "source": str(home() / "settings.toml")},
    }
    assert found["recall.limit"]["origin"] == {"scope": "workspace", "source": str(project / "settings.toml")}
    assert found["isolation"]["origin"] == {"scope": "environment", "source": "RECOLLECTUM_ISOLATION"}
    assert found["recall.max"]["origin"] == {"scope": "built-in", "source": ""}
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in ok("settings", "show").out.splitlines()}
    assert rows["isolation"] == ['"agent"', "environment (RECOLLECTUM_ISOLATION)"]
    assert set(rows) == set(found)


@pytest.mark.feature("C1")
def test_set_get_unset() -> None:
    assert ok("settings", "set", "recall.limit", "3").out == "recall.limit = 3\n"
    assert ok("settings", "get", "recall.limit").out == "3\n"
    assert ok("settings", "unset", "recall.limit").out == "recall.limit = 10\n"
    assert ok("settings", "path").word == str(home() / "settings.toml")


def test_a_value_that_is_overruled_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_RECALL__LIMIT", "7")
    answer = ok("settings", "set", "recall.limit", "3")
    assert answer.out == "recall.limit = 7\n"
    assert "no effect: the value in force comes from environment (RECOLLECTUM_RECALL__LIMIT)" in answer.err


@pytest.mark.feature("C1")
def test_a_mistake_names_the_nearest_and_the_allowed() -> None:
    assert "the nearest is 'lifecycle.grace_days'" in refused("settings", "get", "lifecycle.grce_days")
    # A name that is like no setting is not answered with one that means something else.
    assert refused("settings", "get", "nope") == "'nope' is not a setting; list them with: recollectum settings show"
    assert "the nearest is 'recall.limit'" in refused("settings", "set", "recall.limits", "3")
    assert "it must be a whole number from 1 to 1000" in refused("settings", "set", "recall.limit", "many")
    assert "is not a setting" in refused("settings", "unset", "nope")


def test_a_wrong_key_can_be_taken_out_again() -> None:
    ok("settings", "set", "recall.limit", "3")
    path = home() / "settings.toml"
    path.write_text(path.read_text() + "\n[lifecycle]\ngrce_days = 3\n")
    assert "'lifecycle.grce_days' is not a setting" in refused("settings", "show")
    assert ok("settings", "unset", "lifecycle.grce_days").out == "lifecycle.grce_days is removed\n"
    ok("settings", "show")


@pytest.mark.feature("C2")
def test_an_old_file_is_shown_first_and_then_migrated() -> None:
    home().mkdir()
    old = home() / "settings.json"
    old.write_text(json.dumps({"recallLimit": 7, "retentionDays": 30}))
    dry = ok("settings", "migrate", "--dry-run").out
    assert "is of form V1; it would be kept as settings.json.migrated" in dry
    assert "recallLimit becomes recall.limit" in dry
    assert "limit = 7" in dry
    assert old.exists()
    assert not (home() / "settings.toml").exists()
    assert "recallLimit is now recall.limit" in ok("settings", "migrate").out
    assert not old.exists()
    assert ok("settings", "get", "recall.limit").out == "7\n"
    assert ok("settings", "migrate").out == "there is no settings.json to migrate\n"


@pytest.mark.feature("G8")
def test_the_file_is_replaced_as_a_whole_and_a_failure_leaves_the_old_one() -> None:
    ok("settings", "set", "recall.limit", "4")
    path, before = home() / "settings.toml", home() / "before"
    # A second name of the same file: it would change too if the file were written in place.
    os.link(path, before)
    old = path.read_bytes()
    ok("settings", "set", "recall.limit", "5")
    assert before.read_bytes() == old
    assert path.stat().st_mode & 0o777 == 0o600
    new, names = path.read_bytes(), sorted(one.name for one in home().iterdir())
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, most))
    try:
        answer = call("settings", "set", "recall.limit", "6")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (least, most))
    assert answer.code != 0
    assert path.read_bytes() == new
    assert sorted(one.name for one in home().iterdir()) == names
