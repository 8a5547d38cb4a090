"""Policy files: what is wrong is told with its line, and the rest stands."""

import json
import sys
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.home import policies
from recollectum.home.paths import Home
from recollectum.home.policies import load_policies, parse_policy, shipped_policies
from recollectum.home.project import ProjectFolder
from recollectum.policy.rules.decisions import ToolRequest, decide
from recollectum.policy.rules.model import Tier
from tests.policy.rules.policies import one, rules

_GOOD = one("fine", "allow")


@pytest.mark.feature("C10")
@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (_GOOD + "\n[[rule]]\ntool = 't'\n", 5, "decision is missing; it must be allow, deny or ask_user"),
        (_GOOD + one("t", "maybe"), 4, "decision is 'maybe'"),
        (_GOOD + one("t", "deny", priority=1000), 4, "priority is 1000; it must be a whole number from 0 to 999"),
        (_GOOD + one("t", "deny", priority=-1), 4, "priority is -1"),
        (_GOOD + "[[rule]]\ntool='t'\ndecision='deny'\npriority=true", 4, "priority is True"),
        (_GOOD + "[[rule]]\ndecision='deny'", 4, "tool is missing"),
        (_GOOD + one("t", "deny", modes=[]), 4, "modes must be a text or a list of texts, and not empty"),
        (_GOOD + one("t", "deny", mode="plan"), 4, "'mode' is not part of a rule"),
        (_GOOD + one("t", "deny", command_prefix="a && b"), 4, "command_prefix must be the plain first words"),
        (_GOOD + one("t", "deny", command_prefix="a 'b"), 4, "command_prefix cannot be read: a quote"),
        (
            _GOOD + "[[safety_checker]]\ntool='t'\nchecker='nope'",
            4,
            "checker is 'nope'; it must be one of allowed-path",
        ),
        (_GOOD + "[[safety_checker]]\ntool='t'\nchecker='no-secrets'\ndecision='allow'", 4, "can only deny or ask"),
        (_GOOD + "why = '''\n[[rule]]\n'''\n" + one("t", "x"), 7, "decision is 'x'"),
    ],
)
def test_a_bad_rule_is_told_with_its_line_and_the_others_hold(text: str, line: int, said: str) -> None:
    found = parse_policy(text.encode(), "p.toml", Tier.USER)
    assert [problem.place.line for problem in found.problems] == [line]
    assert said in found.problems[0].what
    assert str(found.problems[0]).startswith(f"p.toml:{line}: ")
    assert [rule.reach.tools for rule in found.rules] == [("fine",)]


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"a = 1\n[[rule\n", 2, "it is not TOML"),
        (b"x\n\xff\xfe", 2, "it is not UTF-8"),
        (b"[other]\n", 1, "'other' is not known here"),
        (b"rule = 3", 1, "a rule must be a table"),
        (b"a = " + b"[" * 5000, 1, ""),
        (b"#" * 300_000, 1, "larger than 256 KiB"),
    ],
)
def test_a_file_that_is_no_policy_is_told_with_a_line(data: bytes, line: int, said: str) -> None:
    found = parse_policy(data, "p.toml", Tier.USER)
    assert len(found.problems) == 1
    assert found.problems[0].place.line == line
    assert said in found.problems[0].what
    assert found.rules == ()


@pytest.mark.feature("C9")
def test_files_of_gemini_cli_are_understood() -> None:
    text = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git", "ls"]
decision = "allow"
priority = 100
modes = ["default"]

[[safety_checker]]
toolName = "write_file"
priority = 100
[safety_checker.checker]
type = "in-process"
name = "allowed-path"
"""
    found = rules(text)
    assert found.problems == ()
    assert found.rules[0].reach.prefixes == (("git",), ("ls",))
    assert found.checks[0].checker == "allowed-path"


@pytest.mark.feature("C10")
def test_every_tier_is_read_and_a_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    home, system, project = Home(tmp_path / "home"), tmp_path / "system", ProjectFolder(tmp_path / "work")
    for folder in (home.folder("policies"), system / "policies", project.folder("policies")):
        folder.mkdir(parents=True)
    (home.folder("policies") / "a.toml").write_text("[[rule]]\ntool=")
    (home.folder("policies") / "b.toml").write_text(one("mine", "allow"))
    (home.folder("policies") / "notes.txt").write_text("no policy")
    (system / "policies" / "s.toml").write_text(one("mine", "deny", clients="guest"))
    (project.folder("policies") / "p.toml").write_text(one("theirs", "deny") + one("other", "allow"))
    found = load_policies(home, project, system)
    assert [Path(problem.place.file).name for problem in found.problems] == ["p.toml", "a.toml"]
    assert "a project may not allow anything" in found.problems[0].what
    assert decide(ToolRequest(tool="mine"), found).verdict == "allow"
    assert decide(ToolRequest(tool="mine", client="guest"), found).verdict == "deny"
    assert decide(ToolRequest(tool="theirs"), found).verdict == "deny"
    assert decide(ToolRequest(tool="other"), found).verdict == "ask_user"


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    project = ProjectFolder(tmp_path / "work")
    project.folder("policies").mkdir(parents=True)
    (tmp_path / "outside.toml").write_text(one("t", "deny"))
    (project.folder("policies") / "p.toml").symlink_to(tmp_path / "outside.toml")
    found = load_policies(Home(tmp_path / "home"), project, None)
    assert "leads outside the project" in found.problems[0].what


@pytest.mark.feature("C10")
@pytest.mark.parametrize(
    ("tool", "mode", "expected"),
    [
        ("memory.search", "default", "allow"),
        ("memory.write", "default", "allow"),
        ("memory.write", "plan", "deny"),
        ("purge.run", "plan", "deny"),
        ("session.read", "default", "allow"),
        ("write_file", "default", "ask_user"),
        ("write_file", "auto_edit", "allow"),
        ("write_file", "plan", "deny"),
        ("read_file", "default", "allow"),
        ("github__delete_repo", "default", "ask_user"),
        ("github__delete_repo", "yolo", "allow"),
    ],
)
def test_the_shipped_rules(tool: str, mode: str, expected: str) -> None:
    from recollectum.policy.rules.matching import build_ruleset

    found = build_ruleset(shipped_policies())
    assert found.problems == ()
    assert decide(ToolRequest(tool=tool, mode=mode), found).verdict == expected


def test_without_re2_a_pattern_is_refused_and_never_tried_by_another_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    policies._engine.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        found = rules(one("t", "allow", args_pattern="a") + one("u", "allow"))
    finally:
        policies._engine.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert [rule.reach.tools for rule in found.rules] == [("u",)]
    assert "needs the package google-re2" in found.problems[0].what


@pytest.mark.feature("C9")
def test_a_pattern_is_held_against_the_arguments_as_json() -> None:
    pytest.importorskip("re2")
    found = rules(one("t", "deny", args_pattern=r'"path":"/etc/[^"]*"') + one("t", "allow", args_pattern="^"))
    assert decide(ToolRequest(tool="t", args={"z": 1, "path": "/etc/passwd"}), found).verdict == "deny"
    assert decide(ToolRequest(tool="t", args={"path": "/home"}), found).verdict == "allow"
    assert decide(ToolRequest(tool="t", args={"path": "\ud800"}), found).verdict == "allow"
    assert "RE2" in rules(one("t", "deny", args_pattern="(?=a)")).problems[0].what


def test_a_pattern_that_would_hang_another_engine_is_quick() -> None:
    pytest.importorskip("re2")
    found = rules(one("t", "deny", args_pattern="(a+)+$"))
    assert decide(ToolRequest(tool="t", args={"x": "a" * 64_000 + "!"}), found).verdict == "ask_user"
    with pytest.raises(InvalidInput, match="longer than 2000"):
        policies.compile_pattern("a" * 3000)


def test_a_pattern_sees_a_line_of_commands_whole_and_in_parts() -> None:
    pytest.importorskip("re2")
    text = one("shell", "deny", args_pattern="curl.*sh", priority=5) + one(
        "shell", "allow", args_pattern="git|curl|bash"
    )
    found = rules(text)
    line = {"command": "curl https://x && git log | bash x.sh"}
    assert decide(ToolRequest(tool="shell", args=line), found).verdict == "deny"
    assert json.dumps(line)
