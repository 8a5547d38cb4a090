"""Every command line that a page shows or the program prints is one that the program takes."""

from pathlib import Path

import pytest

from tests.doors.cli.advice import Advice, documented, printed, problem, texts
from tests.doors.cli.calls import call

pytestmark = pytest.mark.process

#: What waits for somebody, serves, takes long, or changes what lies outside the home.
_NOT_RUN = frozenset({"backup", "bench", "chat", "console", "export", "hook", "mcp", "move", "restore", "serve"})
_NEEDS_A_PERSON = ("no terminal", "--yes", "there is nothing to write")


def test_there_is_much_to_look_at() -> None:
    assert len(list(documented())) > 400
    assert len(list(printed())) > 100


def test_every_line_of_the_pages_is_taken() -> None:
    assert [(one.place, one.line, said) for one in documented() if (said := problem(one))] == []


def test_every_line_that_the_program_prints_is_taken() -> None:
    assert [(one.place, one.line, said) for one in printed() if (said := problem(one))] == []


@pytest.mark.usefixtures("home")
def test_every_line_to_be_typed_is_answered_or_refused_for_what_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong: list[tuple[str, str, str]] = []
    for one in dict.fromkeys(one for one in documented() if one.whole):
        words = one.words()
        if _NOT_RUN & set(words[:1]):
            continue
        told = call(*words)
        # A line that is misused, or a fault of ours. Not there, or not in this state, is an answer.
        misused = told.code == 2 and not any(part in told.err for part in _NEEDS_A_PERSON)
        if misused or told.code not in (0, 1, 2, 3) or "fault in Recollectum" in told.err:
            wrong.append((one.place, one.line, told.err))
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("grow", "there is no command"),
        ("memories grow", "there is no command"),
        ("recall tea --loud", "No such option"),
        ("status and more", "unexpected extra"),
        ("memories show", "Missing"),
        ("lifecycle preview --at", "requires an argument"),
        ("undo last soon", "integer"),
    ],
)
def test_a_line_that_is_wrong_is_seen(line: str, told: str) -> None:
    assert told in (problem(Advice(line, "page", whole=True)) or "")


@pytest.mark.parametrize(
    "line",
    [
        "recall 'last May' --limit 3 | head",
        "--json status",
        "undo last N",
        "purge source quarantine:ID",
        "mcp --profile graph",
    ],
)
def test_a_line_that_is_right_is_taken(line: str) -> None:
    assert problem(Advice(line, "page", whole=True)) is None


def test_what_is_filled_in_when_a_program_runs_is_a_placeholder() -> None:
    assert list(texts('note(f"to release it: recollectum quarantine release {done.id}")')) == [
        "to release it: recollectum quarantine release ID"
    ]
