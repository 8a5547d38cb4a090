"""Durations and dates as people type them."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum import InvalidInput
from recollectum.doors.cli.terminal.times import parse_duration, parse_time

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
    ],
)
def test_dates(text: str, when: datetime) -> None:
    assert parse_time(text, lambda: NOW) == when


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-13-01", "0001-01-01T00:00+14:00", "9999-12-31", "+", "+999999w"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_time(text, lambda: NOW)


@given(st.text(max_size=20))
def test_any_text_is_a_date_or_refused_as_one(text: str) -> None:
    for parse in (parse_duration, parse_time):
        with suppress(InvalidInput):
            parse(text)
