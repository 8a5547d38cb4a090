"""Durations and dates as people type them."""

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum import InvalidInput
from recollectum.doors.cli.terminal.output import moment
from recollectum.doors.cli.terminal.times import parse_duration, parse_time, start_of_day

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90s", timedelta(seconds=90)),
        ("10m", timedelta(minutes=10)),
        ("2H", timedelta(hours=2)),
        (" 30d ", timedelta(days=30)),
        ("1w", timedelta(weeks=1)),
        ("1h30m", timedelta(minutes=90)),
    ],
)
def test_durations(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize("text", ["", "10", "m", "1.5h", "-1d", "10 m", "1y", "999999999w", "\u0661m", "1h,2m"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2026-11-15", datetime(2026, 11, 15, tzinfo=UTC)),
        ("2026-11-15T10:30", datetime(2026, 11, 15, 10, 30, tzinfo=UTC)),
        ("2026-11-15T10:30Z", datetime(2026, 11, 15, 10, 30, tzinfo=UTC)),
        ("2026-11-15T10:30+02:00", datetime(2026, 11, 15, 8, 30, tzinfo=UTC)),
        ("+30d", NOW + timedelta(days=30)),
        ("-7d", NOW - timedelta(days=7)),
        ("now", NOW),
        ("Yesterday", datetime(2026, 11, 14, tzinfo=UTC)),
        ("today", datetime(2026, 11, 15, tzinfo=UTC)),
        ("tomorrow", datetime(2026, 11, 16, tzinfo=UTC)),
        ("2 weeks ago", NOW - timedelta(weeks=2)),
        ("an hour ago", NOW - timedelta(hours=1)),
        ("5 mins ago", NOW - timedelta(minutes=5)),
        ("9 months ago", datetime(2026, 2, 15, 12, tzinfo=UTC)),
        ("2 years ago", datetime(2024, 11, 15, 12, tzinfo=UTC)),
        ("last week", datetime(2026, 11, 8, tzinfo=UTC)),
    ],
)
def test_dates(text: str, when: datetime) -> None:
    assert parse_time(text, lambda: NOW) == when


@pytest.mark.parametrize(
    "text",
    [
        "",
        "someday",
        "2 ages ago",
        "-",
        "999999 years ago",
        "2026-13-01",
        "0001-01-01T00:00+14:00",
        "9999-12-31",
        "+",
        "+999999w",
    ],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_time(text, lambda: NOW)


def test_a_month_before_the_31st_is_the_last_day_of_a_shorter_one() -> None:
    assert parse_time("a month ago", lambda: datetime(2026, 3, 31, 12, tzinfo=UTC)) == datetime(
        2026, 2, 28, 12, tzinfo=UTC
    )


@pytest.fixture(name="los_angeles")
def fixture_los_angeles(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/Los_Angeles")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("los_angeles")
def test_dates_are_typed_and_shown_in_the_zone_of_the_machine() -> None:
    assert parse_time("2026-11-15", lambda: NOW) == datetime(2026, 11, 15, 8, tzinfo=UTC)
    # 12:00 in UTC is 04:00 there, so the day before began at 08:00 in UTC.
    assert parse_time("yesterday", lambda: NOW) == datetime(2026, 11, 14, 8, tzinfo=UTC)
    assert parse_time("2026-11-15T10:30Z", lambda: NOW) == datetime(2026, 11, 15, 10, 30, tzinfo=UTC)
    assert moment(NOW) == "2026-11-15 04:00 PST"
    assert moment(datetime(2026, 6, 15, 12, tzinfo=UTC)) == "2026-06-15 05:00 PDT"
    assert moment(datetime(1, 1, 1, tzinfo=UTC)).endswith("1-01-01 00:00 UTC")


@pytest.mark.usefixtures("los_angeles")
def test_a_day_on_which_the_clocks_change_ends_at_midnight() -> None:
    begin = start_of_day(datetime(2026, 11, 1, 18, tzinfo=UTC))
    assert begin == datetime(2026, 11, 1, 7, tzinfo=UTC)
    assert start_of_day(begin + timedelta(hours=36)) == datetime(2026, 11, 2, 8, tzinfo=UTC)


@given(st.text(max_size=20))
def test_any_text_is_a_date_or_refused_as_one(text: str) -> None:
    for parse in (parse_duration, parse_time):
        with suppress(InvalidInput):
            parse(text)
