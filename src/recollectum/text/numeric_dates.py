"""Dates written in digits: `2023-05-08T13:56Z`, `2023-05`, `12/03/2023`, and what each can mean."""

import re
from datetime import UTC, date, datetime, timedelta

from recollectum.text.periods import Period, a_day, a_month

#: A date in digits, in folded text. Its neighbours must not make it part of a longer number.
NUMERIC_DATE = (
    r"(?<![0-9])(?<![0-9][-/.:])(?:"
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:t|[ ])[0-9]{2}:[0-9]{2}"
    r"(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:z|[+-][0-9]{2}:?[0-9]{2})?"
    r"|[0-9]{4}(?P<mark1>[-/.])[0-9]{1,2}(?P=mark1)[0-9]{1,2}"
    r"|[0-9]{1,2}(?P<mark2>[-/.])[0-9]{1,2}(?P=mark2)(?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{4}-(?:0[1-9]|1[0-2])"
    r")(?![0-9]|[-/:][0-9])"
)
_FRACTION = re.compile(r"[.,][0-9]+")
_SPLIT = re.compile(r"[-/.]")
_DIGITS_OF_A_YEAR, _NEXT_CENTURY = 4, 70
_MINUTES_END = len("2023-05-08T13:56")


def read_numeric(written: str) -> tuple[Period, ...]:
    """What the digits can mean: nothing, one period, or two where day and month could change places."""
    if ":" in written:
        return _moment(written)
    parts = _SPLIT.split(written)
    numbers = [int(part) for part in parts]
    if len(parts) == 2:
        return (a_month(*numbers),)
    if len(parts[0]) == _DIGITS_OF_A_YEAR:
        return (a_day(date(*numbers)),)
    first, second, year = numbers
    if len(parts[2]) < _DIGITS_OF_A_YEAR:
        year += 2000 if year < _NEXT_CENTURY else 1900
    # With dots the day comes first everywhere; with slashes and dashes it depends on the country.
    orders = [(second, first)] if "." in written else [(second, first), (first, second)]
    legal = dict.fromkeys((month, day) for month, day in orders if _exists(year, month, day))
    return tuple(a_day(date(year, month, day)) for month, day in legal)


def _moment(written: str) -> tuple[Period, ...]:
    """A minute, or a second where it is given."""
    whole = _FRACTION.sub("", written).replace("z", "+00:00")
    start = datetime.fromisoformat(whole)
    start = start.replace(tzinfo=UTC) if start.tzinfo is None else start.astimezone(UTC)
    length = timedelta(seconds=1 if whole[_MINUTES_END:].startswith(":") else 60)
    return (Period(start, start + length, "moment"),)


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
