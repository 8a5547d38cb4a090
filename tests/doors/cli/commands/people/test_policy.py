"""`recollectum policy`: check names each problem, explain names the rule, test says what is decided otherwise."""

import os
from pathlib import Path

import pytest

from tests.doors.cli.calls import call, ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


def write(name: str, text: str) -> Path:
    folder = Path(os.environ["RECOLLECTUM_HOME"]) / "policies"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.feature("C10")
def test_check_names_every_problem_with_its_line_and_fails() -> None:
    assert "0 problems" in ok("policy", "check").out
    good = write("good.toml", "[[rule]]\ntool = 'a'\ndecision = 'allow'\n")
    bad = write("bad.toml", "\n[[rule]]\ntool = 'a'\ndecision = 'perhaps'\n")
    assert ok("policy", "check", str(good)).out == "1 rule, 0 safety checkers, 0 problems\n"
    found = call("policy", "check")
    assert (found.code, found.err) == (
        1,
        "recollectum: the policies have 1 problem; correct each at the line given\n",
    )
    assert f"{bad}:2: decision is 'perhaps'; it must be allow, deny or ask_user" in found.out
    as_json = call("policy", "check", str(bad), "--json")
    assert as_json.code == 1
    assert as_json.json["problems"][0]["line"] == 2
    assert "there is no file or folder 'nowhere.toml'" in refused("policy", "check", "nowhere.toml")
    assert "there is no home" in refused("policy", "check", "--home", "nowhere")


@pytest.mark.feature("C9")
def test_explain_names_the_rule() -> None:
    mine = write("mine.toml", "[[rule]]\ntool = 'memory.delete'\nclients = 'bot'\ndecision = 'deny'\nwhy = 'not you'\n")
    found = ok("policy", "explain", "memory.delete", "--client", "bot", "--json").json
    assert found["decision"] == "deny"
    assert found["rule"] == {"file": str(mine), "line": 1, "tier": "user", "priority": 0}
    assert found["why"] == "not you"
    assert "allow" in ok("policy", "explain", "memory.search", "--client", "bot").out
    asked = ok("policy", "explain", "shell", "--args", '{"command": "git status && rm -rf /"}').out
    assert asked.startswith("decision  ask_user\n")
    assert "not JSON" in refused("policy", "explain", "shell", "--args", "{")
    assert "not a JSON object" in refused("policy", "explain", "shell", "--args", "[]")


@pytest.mark.feature("C9")
def test_cases_are_held_against_the_rules() -> None:
    mine = write("mine.toml", "[[rule]]\ntool = 'shell'\ncommand_prefix = 'git'\ndecision = 'allow'\n")
    cases = Path("cases.toml")
    case = "[[case]]\ntool = 'shell'\nargs = {command = 'git log'}\nexpect = 'allow'\n"
    cases.write_text(case)
    assert ok("policy", "test", "cases.toml", "--with", str(mine)).out == "1 case, 0 failed\n"
    cases.write_text(case + "\n" + case.replace("git log", "git log; rm x"))
    found = call("policy", "test", "cases.toml")
    assert found.code == 1
    assert "cases.toml:6: shell: expected allow, but ask_user" in found.out
    cases.write_text("[[case]]\ntool = 'x'\nexpect = 'yes'\n")
    assert refused("policy", "test", "cases.toml") == "cases.toml:1: expect must be allow, deny or ask_user"
    cases.write_text("")
    assert "has no cases" in refused("policy", "test", "cases.toml")
