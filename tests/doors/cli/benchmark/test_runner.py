"""What a set's times and sessions mean when it is run."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from recollectum.doors.cli.benchmark.labelled_set import load_set
from recollectum.doors.cli.benchmark.runner import QueryResult, run_set
from tests.doors.cli.benchmark.labelled_sets import Line, write_set

WORDS: Mapping[str, object] = {"embedding.provider": "none"}


def run(folder: Path, units: list[Line], queries: list[Line]) -> dict[str, QueryResult]:
    data = load_set(write_set(folder, units, queries))
    return {row.query.id: row for row in run_set(data, WORDS, {}, lambda _, __: None)}


def asked(id: str, text: str, **more: object) -> Line:
    return {"ns": "a", "id": id, "category": "", "text": text, "gold": ["u1"], **more}


def test_only_the_past_exists_when_a_question_is_asked(tmp_path: Path) -> None:
    units: list[Line] = [
        {"ns": "a", "id": f"u{one}", "session": f"s{one}", "session_no": one, "speaker": "Ann", "text": f"piano {one}"}
        for one in (1, 2)
    ]
    rows = run(tmp_path / "set", units, [asked("late", "piano"), asked("early", "piano", before_session=2)])
    assert rows["early"].ranked == ("u1",)
    assert set(rows["late"].ranked) == {"u1", "u2"}


@pytest.mark.parametrize(("day", "first"), [("2023-05-11", "u1"), ("2023-08-11", "u2")])
def test_a_question_is_asked_on_its_own_day(tmp_path: Path, day: str, first: str) -> None:
    # Each with words of its own, or the newer one would replace the older.
    said = (
        ("u1", "1:56 pm on 10 May, 2023", "I played the piano for hours while it rained"),
        ("u2", "2023-08-10T13:00:00", "Grandmother played the piano at our wedding party"),
    )
    units: list[Line] = [
        {"ns": "a", "id": id, "session": id, "speaker": "Ann", "ts": ts, "text": text} for id, ts, text in said
    ]
    (row,) = run(tmp_path / "set", units, [asked("q", "who played the piano yesterday?", question_date=day)]).values()
    assert row.ranked[0] == first


def test_what_is_old_is_not_archived(tmp_path: Path) -> None:
    # In steps short enough that the vault believes the clock.
    days = ("2023-01-01", "2023-02-10", "2023-03-22")
    units: list[Line] = [
        {"ns": "a", "id": f"u{place}", "session": "s", "speaker": "doc", "ts": day, "text": f"piano number {place}"}
        for place, day in enumerate(days, start=1)
    ]
    (row,) = run(tmp_path / "set", units, [asked("q", "piano", question_date="2023-05-01")]).values()
    assert set(row.ranked) == {"u1", "u2", "u3"}


def test_a_document_that_was_saved_twice_is_two_units_the_newer_first(tmp_path: Path) -> None:
    units: list[Line] = [
        {"ns": "a", "id": id, "session": "s", "speaker": "doc", "text": "The piano is old"} for id in ("u1", "u2")
    ]
    (row,) = run(tmp_path / "set", units, [asked("q", "piano")]).values()
    assert row.ranked == ("u2", "u1")
    assert row.scores["MRR"] == 0.5
