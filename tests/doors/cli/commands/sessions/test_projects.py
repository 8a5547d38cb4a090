"""The commands of projects: in their folders, after a move, and when they are forgotten."""

from pathlib import Path

import pytest

from tests.doors.cli.calls import ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for name in ("blue", "red"):
        (tmp_path / "work" / name / "src").mkdir(parents=True)
    return tmp_path / "work"


@pytest.mark.feature("C14")
def test_the_working_directory_decides_what_is_seen(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("blue", "red"):
        monkeypatch.chdir(work / name)
        ok("remember", f"We deploy {name} on Friday", "--project", ".")
    ok("remember", "A friend of mine always has to deploy things on foot, in all of the towns")
    monkeypatch.chdir(work / "blue" / "src")
    assert ok("recall", "when do we deploy", "--json").json["hits"][0]["text"] == "We deploy blue on Friday"
    told = ok("context", "when do we deploy").out
    assert ("blue" in told, "red" in told, "on foot" in told) == (True, False, True)
    assert "red" in ok("context", "when do we deploy", "--all-projects").out
    only = ok("recall", "when do we deploy", "--project", str(work / "red"), "--min-score", "0", "--json").json["hits"]
    assert {one["text"] for one in only} == {
        "We deploy red on Friday",
        "A friend of mine always has to deploy things on foot, in all of the towns",
    }
    monkeypatch.chdir(work)
    told = ok("context", "when do we deploy").out
    assert ("blue" in told, "red" in told, "on foot" in told) == (False, False, True)


@pytest.mark.feature("C14")
def test_a_project_is_listed_moved_renamed_and_forgotten(work: Path) -> None:
    assert ok("projects", "add", str(work / "blue") + "/").word == "blue"
    ok("remember", "We deploy blue on Friday", "--project", "blue")
    (work / "blue").rename(work / "navy")
    assert str(work / "navy") in ok("projects", "link", "blue", str(work / "navy")).out
    assert ok("projects", "rename", "blue", "sea").word == "sea"
    shown = ok("projects", "show", str(work / "navy")).out
    assert str(work / "blue") in shown
    assert "sea" in ok("projects", "list").out
    seen = ok("projects", "forget", "sea", "--dry-run", "--json").json["preview"]
    assert (seen["memories"], seen["sessions"]) == (1, 0)
    assert ok("projects", "forget", "sea", "--yes", "--json").json["forgotten"]["memories"] == 1
    assert ok("projects", "list", "--json").json["projects"] == []
    assert len(ok("memories", "trash", "list", "--json").json["memories"]) == 1


def test_what_is_no_project_is_refused(work: Path) -> None:
    ok("projects", "add", str(work / "blue"))
    assert "there is no project 'green'" in refused("recall", "x", "--project", "green")
    assert "is no folder" in refused("projects", "add", str(work / "none"))
    assert "the project is empty" in refused("projects", "add", "")
    assert "'Blue' is not allowed" in refused("projects", "rename", "blue", "Blue")
