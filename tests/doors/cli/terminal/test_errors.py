"""The edges of the program: exit codes, one sentence, stdout for data only, and quiet when nobody listens."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.doors.cli.calls import PROGRAM, call, ok, refused, spawn

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("line", "begins", "ends"),
    [
        (["recll", "x"], "there is no command 'recll'", "did you mean: recollectum recall"),
        (["recall"], "missing argument 'QUERY'", "see: recollectum recall --help"),
        (["memories"], "missing command", "see: recollectum memories --help"),
        (["recall", "x", "--limt", "3"], "no such option", "see: recollectum recall --help"),
        (
            ["recall", "x", "--limit", "many"],
            "invalid value for '--limit': write a whole number;",
            "see: recollectum recall --help",
        ),
        (["recall", "x", "--min-score", "z"], "invalid value for '--min-score': write a number;", "recall --help"),
        (["serve", "--port", "99999"], "invalid value for '--port': write a number of at most 65535;", "serve --help"),
        (["serve", "--port", "-4"], "invalid value for '--port': write a number of at least 0;", "serve --help"),
        (
            ["sessions", "export", "x", "--format", "zip"],
            "invalid value for '--format': 'zip' is not one of ",
            "--help",
        ),
    ],
)
def test_a_line_that_cannot_be_meant_is_one_sentence_and_2(line: list[str], begins: str, ends: str) -> None:
    sentence = refused(*line, code=2)
    assert sentence.startswith(begins)
    assert sentence.endswith(ends)


def test_a_real_process_answers_on_stdout_and_complains_on_stderr() -> None:
    made = spawn("init", "--user", "ada", "--json")
    assert (made.code, made.err) == (0, "")
    assert made.json["created"] is True
    wrong = spawn("memories", "show", "nope", "--user", "ada")
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err == "recollectum: there is no memory 'nope' in this vault\n"


@pytest.mark.usefixtures("home")
def test_errors_are_json_when_the_line_asks_for_it() -> None:
    for line, kind in [
        (["memories", "show", "nope", "--json"], "NotFound"),
        (["--json", "memories", "show", "nope"], "NotFound"),
        (["recall", "--json"], "Usage"),
        (["remember", "x", "--kind", "nope", "--json"], "InvalidInput"),
        (["sessions", "import", "/nonexistent", "--json"], "OSError"),
    ]:
        answer = call(*line)
        told = json.loads(answer.err)["error"]
        assert set(told) == {"type", "message"}
        assert told["type"] == kind
        assert answer.code in (1, 2)


@pytest.mark.usefixtures("home")
def test_json_after_a_double_dash_is_a_text() -> None:
    ok("remember", "--", "--json")
    assert ok("memories", "list", "--json").json["memories"][0]["content"] == "--json"


@pytest.mark.usefixtures("home")
def test_flags_may_stand_before_or_after_the_command(tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    ok("--home", other, "init", "--user", "eve")
    ok("users", "--home", other, "add", "bob")
    lines = [
        ("--json", "--home", other, "users", "list"),
        ("users", "--json", "--home", other, "list"),
        ("users", "list", "--json", "--home", other),
    ]
    for line in lines:
        assert [one["owner"] for one in ok(*line).json["users"]] == ["user:bob", "user:eve"]
    # The later one wins, as everywhere.
    answer = call("--user", "nope", "recall", "x", "--user", "ada")
    assert answer.code == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_quiet_whether_it_is_met_in_the_middle_or_at_the_end(unbuffered: str) -> None:
    environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    process = subprocess.Popen(
        [*PROGRAM, "settings", "show"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), said) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_stdout_is_one_sentence(unbuffered: str) -> None:
    environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    line = [*PROGRAM, "settings", "show"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, check=False, env=environ)
    assert done.returncode == 1
    assert done.stderr.decode().startswith("recollectum: the system refused: No space left on device")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.usefixtures("home")
def test_a_terminal_without_the_letters_gets_them_spelled_out() -> None:
    ok("remember", "\u00e9 \U0001f600")
    answer = spawn("recall", "\u00e9", environ={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert answer.code == 0
    assert "\\xe9 \\U0001f600" in answer.out


@pytest.mark.usefixtures("home")
def test_without_a_terminal_what_destroys_needs_yes() -> None:
    session = ok("sessions", "add", "user", "hi", "--json").json["message"]["session_id"]
    assert "add --yes" in refused("sessions", "delete", session, code=2)
    ok("sessions", "delete", session, "--yes")


def test_the_bare_program_shows_its_help() -> None:
    assert call().out == call("--help").out
    assert call("--version").out.strip()[0].isdigit()


def test_every_problem_of_the_settings_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_RECALL__LIMIT", "many")
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTON", "off")
    answer = call("settings", "show")
    assert answer.code == 1
    lines = answer.err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("recollectum: the variable RECOLLECTUM_") for line in lines)


@pytest.mark.parametrize("line", [["recall", "x"], ["users", "list"], ["encryption", "status"], ["memories", "list"]])
def test_only_init_and_the_first_writes_make_a_home(line: list[str]) -> None:
    assert refused(*line).endswith("yet; make it with: recollectum init")
    assert not Path(os.environ["RECOLLECTUM_HOME"]).exists()


def test_a_key_makes_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_API_KEY", "rk_nope")
    assert "there is no home" in refused("remember", "x")
    assert not Path(os.environ["RECOLLECTUM_HOME"]).exists()


def test_the_first_remember_makes_the_home_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")
    first = ok("remember", "I like tea")
    assert "Made a home at" in first.err
    assert "recollectum encryption new-code" in first.err
    assert "Made a home" not in ok("remember", "I like cake").err
