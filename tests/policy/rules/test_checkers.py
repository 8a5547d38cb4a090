"""Checkers: paths are followed to where they lead, and secrets and sizes are seen."""

from pathlib import Path

import pytest

from recollectum.domain.message import Json
from recollectum.policy.rules.decisions import ToolRequest, decide
from recollectum.policy.rules.matching import Ruleset
from tests.policy.rules.policies import one, rules


def checked(checker: str, **more: object) -> Ruleset:
    lines = [f"{name} = {value!r}" for name, value in more.items()]
    return rules(one("*", "allow") + "\n".join(["[[safety_checker]]", "tool = '*'", f"checker = {checker!r}", *lines]))


@pytest.mark.feature("C9")
def test_a_path_must_lie_in_an_allowed_folder_after_links_and_dots(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (tmp_path / "work2").mkdir()
    (work / "out").symlink_to(tmp_path)
    (work / "loop").symlink_to(work / "loop")
    found = checked("allowed-path")

    def verdict(args: dict[str, Json]) -> str:
        return decide(ToolRequest(tool="write", args=args, cwd=work, roots=(work,)), found).verdict

    for inside in ("src/new.py", "src/../a", str(work / "b"), "./c", "A$B.class"):
        assert verdict({"file_path": inside}) == "allow", inside
    for outside in ("../x", "src/../../x", "/etc/passwd", "out/x", str(tmp_path / "work2"), "~/x", "a\0b", "file:///x"):
        assert verdict({"file_path": outside}) == "deny", outside
    assert verdict({"paths": ["src", "../x"]}) == "deny"
    assert verdict({"edit": {"path": "/etc/passwd"}}) == "deny"
    assert verdict({"content": "/etc/passwd"}) == "allow"
    assert verdict({"path": "loop/x"}) in ("deny", "allow")
    assert verdict({"command": "cat src/a"}) == "allow"
    for command in ("cat /etc/passwd", "cat ../x", "cat out/x", "cat --from=/etc/x", "cat ~/x", "cat $HOME"):
        assert verdict({"command": command}) == "deny", command


def test_the_folders_and_the_arguments_can_be_named(tmp_path: Path) -> None:
    found = checked("allowed-path", roots=[str(tmp_path / "a")], arguments=["where"], decision="ask_user")
    request = ToolRequest(tool="t", args={"where": str(tmp_path / "b"), "path": "/etc"}, cwd=tmp_path)
    decided = decide(request, found)
    assert decided.verdict == "ask_user"
    assert decided.check is not None
    assert decided.why == "allowed-path: the path in where leads outside the allowed folders (default.toml:4 (default))"
    assert decide(ToolRequest(tool="t", args={"where": str(tmp_path / "a/b")}, cwd=tmp_path), found).verdict == "allow"


@pytest.mark.feature("C9")
def test_protected_places_are_seen_under_a_link_too(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "inner").symlink_to(tmp_path / ".git")
    found = checked("protected-path")
    for path in (".git/config", "inner/config", ".ENV", "a/.ssh/id"):
        assert decide(ToolRequest(tool="t", args={"path": path}, cwd=tmp_path), found).verdict == "deny", path
    assert decide(ToolRequest(tool="t", args={"path": "a.git"}, cwd=tmp_path), found).verdict == "allow"


@pytest.mark.feature("C9")
def test_a_secret_in_the_arguments_is_refused_and_not_repeated() -> None:
    decided = decide(ToolRequest(tool="t", args={"body": ["x AKIAABCDEFGHIJKLMNOP"]}), checked("no-secrets"))
    assert decided.verdict == "deny"
    assert "aws-access-key" in decided.why
    assert "AKIA" not in decided.why


def test_too_much_is_refused() -> None:
    found = checked("size-limit", limit=10)
    assert decide(ToolRequest(tool="t", args={"a": "12345", "b": "12345"}), found).verdict == "allow"
    assert decide(ToolRequest(tool="t", args={"a": "12345", "b": "123456"}), found).verdict == "deny"


@pytest.mark.feature("C10")
def test_a_check_binds_its_own_tier_and_those_below() -> None:
    check = "[[safety_checker]]\ntool = '*'\nchecker = 'size-limit'\nlimit = 1\n"
    request = ToolRequest(tool="t", args={"a": "12"})
    assert decide(request, rules(check, user=one("t", "allow"))).verdict == "allow"
    assert decide(request, rules(one("t", "allow"), user=check)).verdict == "deny"
    assert decide(request, rules(user=one("t", "allow") + check)).verdict == "deny"
