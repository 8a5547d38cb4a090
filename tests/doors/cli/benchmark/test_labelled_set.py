"""Times in the forms that labelled sets have, and questions without an answer."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum.doors.cli.benchmark.labelled_set import load_set, load_unanswered, parse_set_time


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2021-10-02", datetime(2021, 10, 2, tzinfo=UTC)),
        ("2021-10-02T10:30:00+02:00", datetime(2021, 10, 2, 8, 30, tzinfo=UTC)),
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023/05/20 (Sat) 02:21", datetime(2023, 5, 20, 2, 21, tzinfo=UTC)),
        ("soon", None),
        (7, None),
        (None, None),
    ],
)
def test_a_time_is_read_or_left_out(value: object, expected: datetime | None) -> None:
    found = parse_set_time(value)
    assert found == expected
    assert found is None or found.utcoffset() is not None


def test_a_zone_that_is_named_is_kept() -> None:
    found = parse_set_time("2021-10-02T10:30:00+02:00")
    assert found is not None
    assert found.utcoffset() == timedelta(hours=2)


def test_questions_without_an_answer_are_loaded_apart(tmp_path: Path) -> None:
    (tmp_path / "units.jsonl").write_text(
        json.dumps({"ns": "a", "id": "1", "session": "s", "speaker": "Ann", "text": "I moved to Lisbon"})
    )
    rows: list[tuple[str, str, list[str]]] = [
        ("city", "where", ["1"]),
        ("adversarial", "pets", ["1"]),
        ("abstention", "car", []),
        ("city_abs", "job", []),
    ]
    queries = [{"ns": "a", "id": text, "category": kind, "text": text, "gold": gold} for kind, text, gold in rows]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    assert [one.text for one in load_set(tmp_path).queries] == ["where"]
    assert [one.text for one in load_unanswered(tmp_path)] == ["pets", "car", "job"]
