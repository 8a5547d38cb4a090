"""How the console says things: differences by word, marks, drawings, names, and characters that could act."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.context import Budget, Ledger, PartCost, PartKind
from recollectum.domain.event import Event, EventType
from recollectum.doors.console.context import segments
from recollectum.doors.console.page_requests import local_path
from recollectum.doors.console.rendering import clipped, marked, moment, plural, shown, size, spanned
from recollectum.doors.console.text_diff import WordChange, diff_words
from recollectum.doors.console.timeline_plot import BARS, HEIGHT, WIDTH, ChangeSort, TimeStep, count, draw

NOW = datetime(2026, 8, 14, 12, tzinfo=UTC)


@given(st.text(), st.text())
def test_a_difference_holds_both_texts_whole(before: str, after: str) -> None:
    pieces = diff_words(before, after)
    assert "".join(one.text for one in pieces if one.change is not WordChange.NEW) == shown(before)
    assert "".join(one.text for one in pieces if one.change is not WordChange.GONE) == shown(after)


def test_a_difference_is_told_by_the_word() -> None:
    pieces = diff_words("lessons on Thursdays at six", "lessons on Fridays at six")
    assert [(one.change.value, one.text) for one in pieces] == [
        ("same", "lessons on "),
        ("gone", "Thursdays "),
        ("new", "Fridays "),
        ("same", "at six"),
    ]


def test_texts_of_any_length_are_compared_in_no_time() -> None:
    long = "word " * 200_000
    assert diff_words(long, long + "more")[-1].change is WordChange.NEW
    assert diff_words("x" * 100_000, "y" * 100_000)


@given(st.text(), st.integers(-5, 50), st.integers(-5, 50))
def test_a_marked_span_loses_no_character(text: str, start: int, end: int) -> None:
    assert "".join(piece for piece, _ in spanned(text, start, end)) == shown(text)


@given(st.text(), st.lists(st.text()))
def test_marked_terms_lose_no_character(text: str, terms: list[str]) -> None:
    assert "".join(piece for piece, _ in marked(text, terms)) == shown(text)


def test_a_term_is_marked_where_a_word_begins_with_it() -> None:
    assert marked("Walnuts, not a coconut", ["walnut", "nut"]) == [("Walnuts", True), (", not a coconut", False)]


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\x00", "\x1b", "\u2028", "\ufeff", "\ud800"])
def test_a_character_that_could_act_is_spelled_out(mark: str) -> None:
    assert shown(f"a{mark}b") == f"a⟨U+{ord(mark):04X}⟩b"
    assert shown("line\n\ttab") == "line\n\ttab"


def test_a_long_text_is_cut_for_a_list() -> None:
    assert clipped("one  two\nthree") == "one two three"
    assert len(clipped("x" * 100_000)) == 320
    assert clipped("y " * 100_000).endswith("…")


def test_counts_sizes_and_times_are_words() -> None:
    assert [plural(1, "memory"), plural(2, "memory"), plural(90, "day")] == ["1 memory", "2 memories", "90 days"]
    assert [size(12), size(2048), size(300 * 2**20)] == ["12 bytes", "2.0 KiB", "300 MiB"]
    assert moment(NOW) == moment(NOW.isoformat()) == "14 August 2026, 12:00 UTC"


def _event(number: int, type: EventType, days: float, subject: str = "memory") -> Event:
    at = NOW - timedelta(days=days)
    return Event(number=number, at=at, type=type, subject=subject, subject_id="x", actor="process", payload={})


@pytest.mark.parametrize("step", list(TimeStep))
def test_events_are_counted_where_they_happened(step: TimeStep) -> None:
    events = [
        _event(1, EventType.CREATED, 0),
        _event(2, EventType.EDITED, 0),
        _event(3, EventType.DELETED, 0),
        _event(4, EventType.CREATED, 0, "session"),
        _event(5, EventType.CREATED, 5000),
    ]
    rows = count(events, NOW, step)
    assert len(rows) == BARS[step]
    assert [row.total for row in rows[:-1]] == [0] * (BARS[step] - 1)
    assert dict(rows[-1].counts) == {ChangeSort.LEARNED: 1, ChangeSort.CHANGED: 1, ChangeSort.FORGOTTEN: 1}
    assert [row.begins for row in rows] == sorted({row.begins for row in rows})


@given(st.lists(st.tuples(st.sampled_from(list(EventType)), st.floats(0, 400))), st.sampled_from(list(TimeStep)))
def test_every_bar_stands_inside_the_drawing(happened: list[tuple[EventType, float]], step: TimeStep) -> None:
    rows = count([_event(1, type, days) for type, days in happened], NOW, step)
    plot = draw(rows, step)
    assert sum(row.total for row in rows) >= len(plot.boxes)
    for box in plot.boxes:
        assert box.x >= 0
        assert box.x + box.width <= WIDTH
        assert box.y >= 0
        assert box.y + box.height <= HEIGHT
        assert box.height > 0


def test_the_bar_of_a_context_is_as_long_as_its_budget() -> None:
    parts = (PartCost(kind=PartKind.PROFILE, tokens=250, ids=("1",)), PartCost(kind=PartKind.MESSAGE, tokens=500))
    ledger = Ledger(parts=parts, left_out=(), budget=Budget(tokens=1000), counter="words", exact=True)
    assert [(one.x, one.width) for one in segments(ledger)] == [(0, 250), (250, 500)]


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "", "/a\r\nb", "javascript:x", "/é"]
)
def test_the_way_back_never_leaves_the_console(path: str) -> None:
    assert local_path(path) == "/"
    assert local_path("/console/memories?state=active") == "/console/memories?state=active"
