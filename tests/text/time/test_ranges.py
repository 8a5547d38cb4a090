"""Dates in questions: each way to name a time, and what it means on 14 June 2023, a Wednesday."""

from datetime import UTC, date, datetime

import pytest

from recollectum.text.time.ranges import TimeRange, overlap, time_ranges

TODAY = date(2023, 6, 14)
OPEN_START, OPEN_END = "0001-01-01", "9999-12-31"


def _only(text: str, today: date = TODAY) -> TimeRange:
    (found,) = time_ranges(text, today)
    return found


def _days(found: TimeRange) -> tuple[str, str]:
    return found.start.date().isoformat(), found.end.date().isoformat()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("on 2023-05-08?", "2023-05-08", "2023-05-09"),
        ("2023/5/8", "2023-05-08", "2023-05-09"),
        ("notes of 2023-05", "2023-05-01", "2023-06-01"),
        ("12 March 2023", "2023-03-12", "2023-03-13"),
        ("March 12th, 2023", "2023-03-12", "2023-03-13"),
        ("december 1,2023", "2023-12-01", "2023-12-02"),
        ("the third of March, 2023", "2023-03-03", "2023-03-04"),
        ("the twenty-first of May", "2023-05-21", "2023-05-22"),
        ("Fri, 12 May 2023", "2023-05-12", "2023-05-13"),
        ("Jan. 5, 2023", "2023-01-05", "2023-01-06"),
        ("12.03.2023", "2023-03-12", "2023-03-13"),
        ("13/03/2023", "2023-03-13", "2023-03-14"),
        ("03/13/2023", "2023-03-13", "2023-03-14"),
        ("13/3/97", "1997-03-13", "1997-03-14"),
        ("on the 3rd", "2023-06-03", "2023-06-04"),
        ("on the 31st.", "2023-05-31", "2023-06-01"),
        ("on 29 February", "2020-02-29", "2020-03-01"),
        ("June 3-5, 2022", "2022-06-03", "2022-06-06"),
        ("Q3 2022", "2022-07-01", "2022-10-01"),
        ("the third quarter of 2021", "2021-07-01", "2021-10-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("the 2022 election", "2022-01-01", "2023-01-01"),
        ("in the 90s", "1990-01-01", "2000-01-01"),
        ("the 1870s", "1870-01-01", "1880-01-01"),
        ("in the twenties", "2020-01-01", "2030-01-01"),
        ("summer 2021", "2021-06-01", "2021-09-01"),
    ],
)
def test_places_in_the_calendar(text: str, start: str, end: str) -> None:
    assert _days(_only(text)) == (start, end)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("in May", "2023-05-01", "2023-06-01"),
        ("in June", "2023-06-01", "2023-07-01"),
        ("in July", "2022-07-01", "2022-08-01"),
        ("in may", "2023-05-01", "2023-06-01"),
        ("last May", "2023-05-01", "2023-06-01"),
        ("last June", "2022-06-01", "2022-07-01"),
        ("this July", "2023-07-01", "2023-08-01"),
        ("next May", "2024-05-01", "2024-06-01"),
        ("this spring", "2023-03-01", "2023-06-01"),
        ("last summer", "2022-06-01", "2022-09-01"),
        ("last winter", "2022-12-01", "2023-03-01"),
        ("in the fall", "2022-09-01", "2022-12-01"),
        ("today", "2023-06-14", "2023-06-15"),
        ("yesterday", "2023-06-13", "2023-06-14"),
        ("the day before yesterday", "2023-06-12", "2023-06-13"),
        ("this morning", "2023-06-14", "2023-06-15"),
        ("last night", "2023-06-13", "2023-06-14"),
        ("last week", "2023-06-05", "2023-06-12"),
        ("the last week", "2023-06-07", "2023-06-15"),
        ("last weekend", "2023-06-10", "2023-06-12"),
        ("on the weekend", "2023-06-10", "2023-06-12"),
        ("last month", "2023-05-01", "2023-06-01"),
        ("last year", "2022-01-01", "2023-01-01"),
        ("last Tuesday", "2023-06-13", "2023-06-14"),
        ("last Wednesday", "2023-06-07", "2023-06-08"),
        ("on Wednesday", "2023-06-14", "2023-06-15"),
        ("on Sat", "2023-06-10", "2023-06-11"),
        ("next Friday", "2023-06-16", "2023-06-17"),
        ("Tuesday of last week", "2023-06-06", "2023-06-07"),
        ("in the past three days", "2023-06-11", "2023-06-15"),
        ("over the past year", "2022-06-14", "2023-06-15"),
        ("in the next two weeks", "2023-06-14", "2023-06-29"),
        ("three days ago", "2023-06-11", "2023-06-12"),
        ("two weeks ago", "2023-05-28", "2023-06-04"),
        ("a couple of months ago", "2023-03-15", "2023-05-15"),
        ("5 years ago", "2017-12-14", "2018-12-14"),
        ("twenty-five years ago", "1995-12-15", "2000-12-13"),
        ("half a year ago", "2022-09-14", "2023-03-16"),
        ("a year and a half ago", "2021-06-15", "2022-06-15"),
        ("two or three weeks ago", "2023-05-21", "2023-06-04"),
        ("two weekends ago", "2023-06-03", "2023-06-05"),
        ("three hours ago", "2023-06-13", "2023-06-15"),
        ("three days from now", "2023-06-17", "2023-06-18"),
        ("the other day", "2023-06-04", "2023-06-15"),
    ],
)
def test_counting_from_today(text: str, start: str, end: str) -> None:
    assert _days(_only(text)) == (start, end)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("on Christmas", "2022-12-24", "2022-12-27"),
        ("for Christmas 2021", "2021-12-24", "2021-12-27"),
        ("on New Year's Eve", "2022-12-31", "2023-01-01"),
        ("last Easter", "2023-04-07", "2023-04-11"),
        ("during Thanksgiving", "2022-11-24", "2022-11-25"),
        ("next Halloween", "2023-10-31", "2023-11-01"),
    ],
)
def test_holidays(text: str, start: str, end: str) -> None:
    assert _days(_only(text)) == (start, end)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("early June 2022", "2022-06-01", "2022-06-11"),
        ("mid-2022", "2022-05-01", "2022-09-01"),
        ("the early 1990s", "1990-01-01", "1993-05-01"),
        ("in late May", "2023-05-21", "2023-06-01"),
        ("the end of last month", "2023-05-21", "2023-06-01"),
        ("the first half of 2022", "2022-01-01", "2022-07-02"),
        ("the second week of November", "2022-11-08", "2022-11-15"),
        ("the last day of May", "2023-05-31", "2023-06-01"),
        ("the week of 8 June", "2023-06-05", "2023-06-12"),
        ("the Sunday before 25 May 2023", "2023-05-21", "2023-05-22"),
        ("the week before August 3, 2022", "2022-07-27", "2022-08-03"),
        ("last weekend before April 10, 2023", "2023-04-08", "2023-04-10"),
        ("two weeks before Christmas", "2022-12-07", "2022-12-14"),
        ("the day after 1 May", "2023-05-02", "2023-05-03"),
        ("between May and July 2022", "2022-05-01", "2022-08-01"),
        ("between November and February", "2022-11-01", "2023-03-01"),
        ("from March to May", "2023-03-01", "2023-06-01"),
        ("from March 2021 to May", "2021-03-01", "2021-06-01"),
        ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
        ("2019-2021", "2019-01-01", "2022-01-01"),
        ("between the 3rd and the 10th of June", "2023-06-03", "2023-06-11"),
        ("from Monday to Wednesday", "2023-06-12", "2023-06-15"),
        ("from May to now", "2023-05-01", "2023-06-15"),
        ("since March", "2023-03-01", OPEN_END),
        ("from May on", "2023-05-01", OPEN_END),
        ("after the 3rd of June", "2023-06-04", OPEN_END),
        ("before 2021", OPEN_START, "2021-01-01"),
        ("until yesterday", OPEN_START, "2023-06-14"),
    ],
)
def test_times_made_of_others(text: str, start: str, end: str) -> None:
    assert _days(_only(text)) == (start, end)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("im Mai", "2023-05-01"),
        ("am 3. August", "2022-08-03"),
        ("letzte Woche", "2023-06-05"),
        ("letzten Dienstag", "2023-06-13"),
        ("vor zwei Wochen", "2023-05-28"),  # codespell:ignore vor
        ("le 12 mars 2023", "2023-03-12"),
        ("en février", "2023-02-01"),
        ("la semaine dernière", "2023-06-05"),
        ("el 3 de junio de 2023", "2023-06-03"),
        ("hace dos semanas", "2023-05-28"),  # codespell:ignore hace
        ("due settimane fa", "2023-05-28"),
        ("em março de 2022", "2022-03-01"),
        ("twee weken geleden", "2023-05-28"),
        ("afgelopen vrijdag", "2023-06-09"),
    ],
)
def test_other_languages(text: str, start: str) -> None:
    assert _days(_only(text))[0] == start


@pytest.mark.parametrize(
    "text",
    [
        "May I ask you something?",
        "this may help, and option 2 may be better",
        "we march on, to march is fun",
        "wait a second, I second that",
        "I sat in the sun when I last sat",
        "Did April call June and August?",
        "What is on Mars? Who ate the mayo?",
        "the spring of the watch, a fall, summer camp",
        "room 2022 has $2022 and 2022 words in 2000 steps",
        "a walk on the 3rd floor in her 30s",
        "1500-2000 words, 1.5 days, at 12:30, 10/20 points",
        "31/02/2023 and 2023-13-45 and 99 May",
        "every Monday, on Mondays",
        "How long ago, and since when?",
        "Mardi Gras",
        "",
    ],
)
def test_what_only_looks_like_a_time(text: str) -> None:
    assert time_ranges(text, TODAY) == ()


def test_a_day_that_could_be_a_month_has_both_readings_and_says_so() -> None:
    first, second = time_ranges("on 12/03/2023", TODAY)
    assert (_days(first)[0], _days(second)[0]) == ("2023-03-12", "2023-12-03")
    assert first.ambiguous
    assert second.ambiguous
    assert first.span == second.span
    assert not _only("03/03/2023").ambiguous


def test_a_winter_has_two_years() -> None:
    assert [_days(found)[0] for found in time_ranges("winter 2022", TODAY)] == ["2021-12-01", "2022-12-01"]


def test_moments_have_their_zone() -> None:
    found = _only("2023-05-08T13:56+02:00")
    assert (found.start, found.end) == (
        datetime(2023, 5, 8, 11, 56, tzinfo=UTC),
        datetime(2023, 5, 8, 11, 57, tzinfo=UTC),
    )
    assert _only("2023-05-08 13:56:07.5z").end == datetime(2023, 5, 8, 13, 56, 8, tzinfo=UTC)


def test_every_time_is_found_with_its_words_and_direction() -> None:
    found = time_ranges("What did I do last Friday, and before 2021 in Rome or since March?", TODAY)
    assert [(each.words, each.direction, each.precision) for each in found] == [
        ("last Friday", "in", "day"),
        ("before 2021", "before", "year"),
        ("since March", "after", "month"),
    ]


def test_vague_words_are_approximate() -> None:
    assert _only("two weeks ago").approximate
    assert _only("around May 5").approximate
    assert not _only("2023-05-05").approximate


def test_a_vague_time_forgives_days_and_a_date_does_not() -> None:
    weeks, day = _only("two weeks ago"), _only("2023-05-31")
    inside, near = datetime(2023, 5, 31, 12, tzinfo=UTC), datetime(2023, 6, 5, 12, tzinfo=UTC)
    assert overlap(weeks, inside) == overlap(day, inside) == 1
    assert overlap(weeks, near) > 0.8
    assert overlap(day, near) < 0.001
    assert overlap(weeks, weeks.end + weeks.tolerance) == pytest.approx(0.5)  # pyright: ignore[reportUnknownMemberType]


def test_the_ends_of_the_calendar_are_no_trap() -> None:
    for today in (date.min, date.max):
        for text in ("yesterday", "tomorrow", "last year", "next year", "9999 years ago", "in May", "since Christmas"):
            time_ranges(text, today)
    assert time_ranges("next year", date.max) == ()


def test_a_long_text_is_read_quickly() -> None:
    assert len(time_ranges("in May " * 5000, TODAY)) > 1000
    assert time_ranges("a" * 100_000 + " in May", TODAY) == ()


def test_relative_ranges_do_not_reach_into_tomorrow() -> None:
    tomorrow = datetime(2023, 6, 15, tzinfo=UTC)
    for text in ("yesterday", "the past week", "recently", "two days ago", "last month"):
        assert _only(text).end <= tomorrow
