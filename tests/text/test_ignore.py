"""Ignore rules: what git ignores, we ignore."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from recollectum.text.ignore import IgnoreRules

pytestmark = pytest.mark.process

#: A small tree with names that the patterns below can tell apart; folders end with a slash.
TREE = [
    "a",
    "b.md",
    "ab/",
    "ab/a",
    "ab/b.md",
    "ab/c/",
    "ab/c/a",
    "ab/c/b.md",
    "c/",
    "c/a/",
    "c/a/ab",
    "c/a/c/",
    "c/a/c/b",
    "c/-",
    "c/#a",
    "c/!b",
    "c/]",
    "c/a b",
    "c/a ",
    "c/\\a",
    "c/A1",
]
PIECES = [
    *"aabbcc/*?-]! ",
    "**",
    "/**/",
    "**/",
    "/**",
    "***",
    "*",
    "/",
    "ab",
    ".md",
    "*.md",
    "\\",
    "\\ ",
    "\\*",
    "\\!",
    "#",
]
BRACKETS = [
    "[a-c]",
    "[!a]",
    "[^b]",
    "[]a]",
    "[a-]",
    "[c-a]",
    "[\\]]",
    "[[:alpha:]]",
    "[![:upper:]]",
    "[[:no:]]",
    "[a",
    "[a/b]",
]
CASES = 250


@pytest.mark.parametrize(
    ("rules", "path", "ignored"),
    [
        ("*.log", "deep/x.log", True),
        ("*.log\n!keep.log", "keep.log", False),
        ("/x", "a/x", False),
        ("a/x", "a/x", True),
        ("a/x", "b/a/x", False),
        ("**/x/y", "b/a/x/y", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/1/2/b", True),
        ("a/**", "a", False),
        ("a/**", "a/1/2", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("# x", "# x", False),
        ("\\# x", "# x", True),
        ("\\!x", "!x", True),
        ("x   ", "x", True),
        ("x\\ ", "x ", True),
        ("x\r\ny\r", "y", True),
        ("\ufeffx", "x", True),
        ("x/", "x", False),
        ("x/", "x/y", True),
        ("x/\n!x/y", "x/y", True),
        ("x/*\n!x/y", "x/y", False),
        ("ä?", "äö", True),
        ("**\\/x", "x", False),
        ("a**/b", "ab", True),
    ],
)
def test_the_rules_of_git(rules: str, path: str, *, ignored: bool) -> None:
    assert IgnoreRules.parse(rules).matches(path, is_dir=False) is ignored


def test_folders_only() -> None:
    assert IgnoreRules.parse("x/").matches("a/x", is_dir=True)


def test_deeper_files_decide_in_whatever_order_they_are_combined() -> None:
    top, deep = IgnoreRules.parse("*.md"), IgnoreRules.parse("!keep.md\n/only", folder="notes/")
    for rules in (top.combine(deep), deep.combine(top)):
        assert rules.matches("keep.md", is_dir=False)
        assert not rules.matches("notes/keep.md", is_dir=False)
        assert rules.matches("notes/only", is_dir=False)
        assert not rules.matches("only", is_dir=False)


def test_many_stars_are_no_burden() -> None:
    rules = IgnoreRules.parse("*a" * 60 + "b\n" + "**/a/" * 60 + "b")
    assert not rules.matches("a" * 2000, is_dir=False)
    assert not rules.matches("/".join(["a"] * 500), is_dir=False)


def _random_rules(choice: random.Random) -> str:
    lines = ["".join(choice.choices(PIECES + BRACKETS, k=choice.randint(1, 5))) for _ in range(choice.randint(1, 4))]
    return "\n".join(choice.choice(["", "", "", "!", "/"]) + line for line in lines) + choice.choice(["", "\n", "\r\n"])


def _plant(root: Path) -> None:
    for name in TREE:
        if name.endswith("/"):
            (root / name).mkdir(parents=True)
        else:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()


def _ignored_by_git(root: Path, paths: list[str]) -> set[str]:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q", str(root)], check=True, env=environ)
    asked = "\0".join(paths) + "\0"
    command = ["git", "check-ignore", "--stdin", "-z"]
    answer = subprocess.run(command, cwd=root, input=asked.encode(), capture_output=True, check=False, env=environ)
    assert answer.returncode in (0, 1), answer.stderr
    return set(answer.stdout.decode().split("\0"))


def test_random_rules_ignore_what_git_ignores(tmp_path: Path) -> None:
    # Each case is a folder of one repository, with rules at its top and in a folder below: git is asked once.
    choice = random.Random(20230614)
    cases = [(f"case{number}", _random_rules(choice), _random_rules(choice)) for number in range(CASES)]
    for folder, top, deep in cases:
        _plant(tmp_path / folder)
        (tmp_path / folder / ".gitignore").write_text(top, newline="")
        (tmp_path / folder / "c" / ".gitignore").write_text(deep, newline="")
    ignored = _ignored_by_git(tmp_path, [f"{folder}/{name.rstrip('/')}" for folder, _, _ in cases for name in TREE])
    assert len(ignored) > CASES
    for folder, top, deep in cases:
        rules = IgnoreRules.parse(top).combine(IgnoreRules.parse(deep, folder="c"))
        for name in TREE:
            path = name.rstrip("/")
            ours = rules.matches(path, is_dir=name.endswith("/"))
            assert ours == (f"{folder}/{path}" in ignored), (top, deep, path)
