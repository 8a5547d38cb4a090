"""Laws of dates: any text is legal on any day, every range is one, and what is relative moves with today."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from recollectum.text.time.combined_forms import EARLIEST, LATEST
from recollectum.text.time.event_references import event_references
from recollectum.text.time.ranges import TimeRange, overlap, time_ranges
from recollectum.text.time.words import vocabulary

pytestmark = pytest.mark.slow

#: Words of time in any order make more of the forms than any text would by chance.
WORDS = st.sampled_from(
    [
        *sorted(vocabulary()[0]),
        *[
            "1",
            "2",
            "03",
            "12",
            "29",
            "31",
            "99",
            "2022",
            "2023",
            "1999",
            "9999",
            "0001",
            "3rd",
            "29th",
            "90s",
            "1990s",
        ],
        *["q3", ",", ".", "-", "–", ":", "'", "May", "March", "May's", "Sun", "ſunday", "İ"],
        "2023-05-08",
        "0001-01-01",
        "9999-12-31",
        "2023-02-30T25:61",
        "2023-05-08T13:56:01+23:59",
        "0001-01-01T00:00+12:00",
        "12/03/2023",
    ]
)
PHRASE = st.lists(WORDS, max_size=8).map(" ".join)
TEXT = st.text() | PHRASE | st.lists(WORDS | st.text(max_size=3), max_size=8).map("".join)
DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))
BY_DAYS = [
    *["yesterday", "today", "tomorrow", "three days ago", "two weeks ago", "a few days ago", "the other day"],
    *["the past 5 days", "in the next two weeks", "since yesterday", "before today", "recently", "ten days from now"],
]
BY_WEEKS = ["last week", "this week", "next Friday", "last Tuesday", "on Monday", "last weekend", "Monday of last week"]
BY_YEARS = ["last year", "in May", "last May", "since March", "on Christmas Eve", "this summer", "the end of last year"]
FIXED = ["2023-05-08", "12 March 2023", "in 2022", "between May and July 2022", "summer 2021", "before 2021"]


@given(TEXT, st.dates())
@settings(max_examples=1500)
@example("1 " * 200, date.max)
def test_any_text_is_legal_on_any_day_and_every_range_is_one(text: str, today: date) -> None:
    found = time_ranges(text, today)
    for each in found:
        assert EARLIEST <= each.start < each.end <= LATEST
        assert each.start.tzinfo is UTC
        assert each.end.tzinfo is UTC
        assert each.words == text[each.span[0] : each.span[1]] != ""
        assert each.ambiguous == (sum(other.span == each.span for other in found) > 1)
    spans = list(dict.fromkeys(each.span for each in found))
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


@given(TEXT)
@settings(max_examples=500)
def test_any_text_may_name_events_and_they_are_in_it(text: str) -> None:
    for each in event_references(text):
        assert each.words == text[each.span[0] : each.span[1]] != ""


def _shifted(found: tuple[TimeRange, ...], by: timedelta) -> list[tuple[datetime, datetime]]:
    """The borders so much later; an open side stays open."""
    return [
        (each.start if each.start == EARLIEST else each.start + by, each.end if each.end == LATEST else each.end + by)
        for each in found
    ]


@given(st.sampled_from(BY_DAYS), DAYS, st.integers(-5000, 5000))
def test_what_is_counted_in_days_moves_with_today(text: str, today: date, days: int) -> None:
    by = timedelta(days=days)
    found = time_ranges(text, today)
    assert len(found) == 1
    assert _shifted(time_ranges(text, today + by), timedelta(0)) == _shifted(found, by)


@given(st.sampled_from(BY_WEEKS), DAYS, st.integers(-500, 500))
def test_what_is_counted_in_weeks_moves_with_the_week(text: str, today: date, weeks: int) -> None:
    by = timedelta(weeks=weeks)
    found = time_ranges(text, today)
    assert len(found) == 1
    assert _shifted(time_ranges(text, today + by), timedelta(0)) == _shifted(found, by)


@given(st.sampled_from(BY_YEARS), DAYS)
def test_what_comes_every_year_comes_a_year_later(text: str, today: date) -> None:
    assume((today.month, today.day) != (2, 29))
    (found,) = time_ranges(text, today)
    (later,) = time_ranges(text, today.replace(year=today.year + 1))
    assert later.start == found.start.replace(year=found.start.year + 1)


@given(st.sampled_from(FIXED), DAYS, DAYS)
def test_what_names_its_year_means_the_same_every_day(text: str, today: date, other: date) -> None:
    assert time_ranges(text, today) == time_ranges(text, other) != ()


@given(st.dates(date(1000, 1, 1), date(2999, 12, 30)), DAYS)
def test_a_date_is_understood_in_every_spelling(day: date, today: date) -> None:
    spellings = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d. %b %Y", "%A, %d %B, %Y", "%d.%m.%Y", "the %dth of %B %Y")
    for spelling in spellings:
        written = day.strftime(spelling.replace("%Y", f"{day.year:04}"))
        (found,) = time_ranges(written, today)
        assert (found.start.date(), found.end - found.start) == (day, timedelta(days=1)), written


@given(PHRASE, DAYS, st.datetimes(timezones=st.just(UTC)), st.timedeltas(timedelta(0), timedelta(days=900)))
def test_fitting_is_a_share_that_only_falls_with_the_distance(
    text: str, today: date, moment: datetime, further: timedelta
) -> None:
    for each in (*time_ranges(text, today), *time_ranges("last May", today)):
        fit = overlap(each, moment)
        assert 0 <= fit <= 1
        assert (fit == 1) >= (each.start <= moment < each.end)
        if moment >= each.end and moment < LATEST - further:
            assert overlap(each, moment + further) <= fit
        if moment < each.start and moment > EARLIEST + further:
            assert overlap(each, moment - further) <= fit


@pytest.mark.parametrize("text", [*BY_DAYS, *BY_WEEKS, *BY_YEARS, *FIXED])
def test_case_does_not_change_what_is_understood(text: str) -> None:
    today = date(2023, 6, 14)
    assert _shifted(time_ranges(text.upper(), today), timedelta(0)) == _shifted(time_ranges(text, today), timedelta(0))
