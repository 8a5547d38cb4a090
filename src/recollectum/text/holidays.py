"""Holidays that people date things by, and the days they fall on."""

from collections.abc import Callable
from datetime import date

from recollectum.text.calendar_words import HOLIDAYS
from recollectum.text.periods import DAY, Period, stretch

_THURSDAY = 3


def holiday(number: int, year: int) -> Period:
    """The days of a holiday, by its number among the words, in a year."""
    first, after = _DAYS[HOLIDAYS[number]](year)
    return stretch(first, after, "day")


def _fixed(month: int, day: int, length: int = 1) -> Callable[[int], tuple[date, date]]:
    def days(year: int) -> tuple[date, date]:
        first = date(year, month, day)
        return first, first + length * DAY

    return days


def _around_easter(offset: int, length: int = 1) -> Callable[[int], tuple[date, date]]:
    def days(year: int) -> tuple[date, date]:
        first = _easter(year) + offset * DAY
        return first, first + length * DAY

    return days


def _around_thanksgiving(offset: int) -> Callable[[int], tuple[date, date]]:
    def days(year: int) -> tuple[date, date]:
        first = date(year, 11, 1)
        day = first + ((_THURSDAY - first.weekday()) % 7 + 21 + offset) * DAY
        return day, day + DAY

    return days


def _new_year(year: int) -> tuple[date, date]:
    first = date(year, 1, 1)
    return first - DAY, first + DAY


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by Oudin's arithmetic."""
    century, golden = year // 100, year % 19
    moon = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    moon -= (moon // 28) * (1 - (moon // 28) * (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    month = 3 + (moon - weekday + 40) // 44
    return date(year, month, moon - weekday + 28 - 31 * (month // 4))


_DAYS: dict[str, Callable[[int], tuple[date, date]]] = {
    "christmas": _fixed(12, 24, 3),
    "christmas eve": _fixed(12, 24),
    "christmas day": _fixed(12, 25),
    "new year": _new_year,
    "new year eve": _fixed(12, 31),
    "new year day": _fixed(1, 1),
    "halloween": _fixed(10, 31),
    "thanksgiving": _around_thanksgiving(0),
    "easter": _around_easter(-2, 4),
    "good friday": _around_easter(-2),
    "easter sunday": _around_easter(0),
    "easter monday": _around_easter(1),
    "valentine": _fixed(2, 14),
    "boxing day": _fixed(12, 26),
    "black friday": _around_thanksgiving(1),
}
