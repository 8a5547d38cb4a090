"""`recollectum history`, `state` and `accounts`: what a person types, and what is refused in one sentence."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.doors.cli.calls import ok, refused

pytestmark = pytest.mark.process


@pytest.mark.feature("C13")
def test_commands_go_to_the_project_around_and_are_found_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boat, inner = tmp_path / "boat", tmp_path / "boat" / "hull"
    (boat / ".recollectum").mkdir(parents=True)
    inner.mkdir()
    ok("history", "add", "cd /somewhere")
    monkeypatch.chdir(inner)
    ok("history", "add", "make hull")
    ok("history", "add", "-", stdin=b"for one in *\ndo\n\techo $one\ndone\n")
    shown = ok("history", "list").out.splitlines()
    assert [line.split("\t")[2] for line in shown] == ["for one in * ⏎ do ⏎ echo $one ⏎ done", "make hull"]
    monkeypatch.chdir(tmp_path)
    assert ok("history", "list").out.count("\n") == 1
    assert ok("history", "search", "ECHO", "--project", str(boat), "--json").json["commands"][0]["command"] == (
        "for one in *\ndo\n\techo $one\ndone"
    )
    # A link and a slash at the end name the same project.
    (tmp_path / "link").symlink_to(boat)
    assert ok("history", "list", "--project", f"{tmp_path}/link/").out.count("\n") == 2
    assert ok("history", "list", "--all").out.count("\n") == 3
    assert ok("history", "clear", "--project", str(boat), "--yes").out == "2 commands deleted\n"
    receipt = ok("purge", "history", "--yes", "--json").json["receipt"]
    assert receipt["counts"] == {"shell_commands": 1}
    assert ok("history", "list", "--all").err == "no commands\n"


def test_what_cannot_be_meant_is_refused() -> None:
    ok("history", "add", "ls")
    assert refused("history", "list", "--project", "/nowhere").startswith("there is no project '/nowhere'")
    assert refused("history", "list", "--project", ".", "--all", code=2) == (
        "--all and --project exclude each other; leave one out"
    )
    assert "add --yes to confirm" in refused("history", "clear", code=2)
    assert refused("history", "clear", "cmd_none").startswith("there is no command 'cmd_none' in this history")
    assert "the command is empty" in refused("history", "add", "-", stdin=b"\n")
    assert refused("state", "set", "theme", "3").startswith("theme cannot be 3; give a text")
    assert refused("state", "get", "editor").startswith("'main' keeps no 'editor'")
    assert "accounts list" in refused("accounts", "use", "google", "ada")


@pytest.mark.feature("C3")
def test_values_are_json_or_text(tmp_path: Path) -> None:
    ok("state", "set", "banners_shown", '{"welcome": 2}', "--interface", "terminal")
    ok("state", "set", "greeting", "good morning", "--interface", "terminal")
    ok("state", "set", "editor", "-", "--interface", "terminal", stdin=b"vim\n")
    assert ok("state", "show", "--interface", "terminal", "--json").json == {
        "interface": "terminal",
        "values": {"banners_shown": {"welcome": 2}, "editor": "vim", "greeting": "good morning"},
        "interfaces": ["terminal"],
    }
    assert ok("state", "get", "greeting", "--interface", "terminal").out == "good morning\n"
    assert ok("state", "show").err == "it keeps nothing; these keep something: terminal\n"


@pytest.mark.feature("C7")
def test_one_account_of_each_service_is_in_use() -> None:
    ok("accounts", "add", "google", "ada@example.com")
    ok("accounts", "add", "google", "bob@example.com")
    ok("accounts", "use", "google", "bob@example.com")
    lines = [line.split("\t")[:3] for line in ok("accounts", "list").out.splitlines()]
    assert lines == [["google", "ada@example.com", "-"], ["google", "bob@example.com", "in use"]]
    ok("accounts", "remove", "google", "ada@example.com")
    assert len(ok("accounts", "list", "google", "--json").json["accounts"]) == 1


@pytest.mark.feature("C13")
def test_the_lines_of_the_guide_record_what_is_typed_in_bash(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guides" / "agent-state.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```sh\n(recollectum_record\(\).*?)```", guide, re.DOTALL)
    program = tmp_path / "recollectum"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m recollectum "$@"\n')
    program.chmod(0o755)
    typed = r"""
history -s 'from before'
eval "$PROMPT_COMMAND"
history -s $'for one in 1 2\ndo echo $one\ndone'
eval "$PROMPT_COMMAND"
eval "$PROMPT_COMMAND"
"""
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HISTFILE": str(tmp_path / "bash_history")}
    # The recording in the background holds stdout open, so this waits for it.
    waiting = lines.replace(">/dev/null 2>&1 &", "2>&1")
    subprocess.run(["bash", "--norc", "-c", waiting + typed], env=environ, check=True, cwd=tmp_path, timeout=60)
    found = ok("history", "list", "--all", "--json").json["commands"]
    assert [one["command"] for one in found] == ["for one in 1 2\ndo echo $one\ndone"]
