"""The first page shows every command in one group and cuts nothing; a wrong name is answered with the right one."""

import pytest

from recollectum.doors.cli.main import program
from recollectum.doors.cli.terminal.help import MEANT, PANELS, as_typed
from tests.doors.cli.advice import Advice, problem
from tests.doors.cli.calls import ok, refused


def test_every_command_is_in_one_group() -> None:
    grouped = [name for entries in PANELS.values() for name in entries]
    assert sorted(grouped) == sorted(program().commands)
    assert list(PANELS) == ["Every day", "Conversations", "Agents", "Safety", "Admin"]


def test_the_first_page_fits_on_80_columns_and_cuts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = ok("--help").out
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in shown
    # The usage line has dots that mean repetition.
    assert "..." not in shown.partition("\n")[2]
    for title, entries in PANELS.items():
        assert f"{title}:" in lines
        for name, words in entries.items():
            assert [name, *words.split()] in [line.split() for line in lines]


def test_the_page_of_a_group_shows_whole_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("memories", "sessions", "purge", "encryption"):
        _, _, below = ok(name, "--help").out.partition("\nCommands:\n")
        assert below
        assert "..." not in below


@pytest.mark.parametrize("name", MEANT)
def test_every_other_name_leads_to_a_command_that_is_taken(name: str) -> None:
    assert name not in program().commands
    assert problem(Advice(MEANT[name], "help.py", whole=True)) is None


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["search", "tea"], "recollectum recall WORDS"),
        (["add", "tea"], "recollectum remember TEXT"),
        (["forget", "it"], "recollectum memories forget ID"),
        (["transcripts", "list"], "recollectum sessions transcripts"),
        (["trash"], "recollectum memories trash"),
        (["Recall", "tea"], "recollectum recall"),
        (["rember", "tea"], "recollectum remember"),
        (["serch", "tea"], "recollectum recall WORDS"),
        (["memories", "lst"], "recollectum memories list"),
    ],
)
def test_a_near_miss_names_the_command(line: list[str], meant: str) -> None:
    assert refused(*line, code=2).endswith(f"; did you mean: {meant}")


def test_a_name_like_no_other_leads_to_the_help() -> None:
    assert refused("xyzzy", code=2) == "there is no command 'xyzzy'; see: recollectum --help"
    assert refused("memories", "xyzzy", code=2).endswith("in recollectum memories; see: recollectum memories --help")
    assert len(refused("x" * 5000, code=2)) < 120


def test_help_and_version_are_answered_as_words_too() -> None:
    assert ok("version").out == ok("--version").out
    assert ok("help").out == ok("--help").out
    assert ok("help", "memories", "list").out == ok("memories", "list", "--help").out
    assert as_typed(["remember", "help"]) == ["remember", "help"]
    assert as_typed(["help", "--json"]) == ["help", "--json"]
