"""Periods: intervals of the calendar, from a minute to a decade, and the arithmetic on them.

Weeks begin on Monday, and seasons are those of the northern hemisphere, whole months from March on. A function raises
ValueError or OverflowError for a date that does not exist, such as 31 June or the year 10000.
"""

import calendar
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from recollectum.domain.records import dataclass

Precision = Literal["moment", "day", "weekend", "week", "month", "quarter", "season", "year", "decade"]
#: How often something recurs whose name does not say which one is meant.
Cycle = Literal["week", "month", "year"]

DAY = timedelta(days=1)
_MONTHS_A_YEAR = 12
#: A leap day can be eight years away.
_YEARS_IN_REACH = 8


@dataclass(frozen=True, slots=True)
class Period:
    """The time from `start` up to but not including `end`, both in UTC."""

    start: datetime
    end: datetime
    precision: Precision
    #: Whether the words are vague about the borders.
    approximate: bool = False
    #: Set when the words fit many periods, of which this is the most likely one.
    cycle: Cycle | None = None


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """A unit of time such as a week or a month."""

    precision: Precision
    days: int = 0
    months: int = 0

    @property
    def length(self) -> int:
        """Return the approximate number of days."""
        return self.days or self.months * 365 // _MONTHS_A_YEAR


#: By the value of a unit's word.
UNITS = (
    TimeUnit("day", days=1),
    TimeUnit("week", days=7),
    TimeUnit("month", months=1),
    TimeUnit("year", months=12),
    TimeUnit("quarter", months=3),
    TimeUnit("decade", months=120),
    TimeUnit("week", days=14),
)


#: Periods that have a beginning, a middle and an end, and the precision of these.
THIRDS: dict[Precision, Precision] = {
    "week": "day",
    "month": "week",
    "quarter": "month",
    "season": "month",
    "year": "season",
    "decade": "year",
}

_MONTHS_IN_A_THIRD: dict[Precision, int] = {"quarter": 1, "season": 1, "year": 4, "decade": 40}


def midnight(day: date) -> datetime:
    """Return the time at which a day begins."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def stretch(first: date, after: date, precision: Precision, *, approximate: bool = False) -> Period:
    """Return the days from `first` up to but not including `after`."""
    return Period(midnight(first), midnight(after), precision, approximate)


def a_day(day: date) -> Period:
    """Return the period of one day."""
    return stretch(day, day + DAY, "day")


def a_week(day: date) -> Period:
    """Return the week that a day is in."""
    monday = day - day.weekday() * DAY
    return stretch(monday, monday + 7 * DAY, "week")


def a_weekend(day: date) -> Period:
    """Return the Saturday and Sunday of the week that a day is in."""
    saturday = day + (5 - day.weekday()) * DAY
    return stretch(saturday, saturday + 2 * DAY, "weekend")


def months(year: int, month: int, count: int, precision: Precision) -> Period:
    """Return a number of whole months, starting with the first."""
    first = date(year, month, 1)
    return stretch(first, add_months(first, count), precision)


def a_month(year: int, month: int) -> Period:
    """Return the period of one month."""
    return months(year, month, 1, "month")


def a_quarter(year: int, number: int) -> Period:
    """Return a quarter of a year, from 1 to 4."""
    return months(year, 3 * number - 2, 3, "quarter")


def a_season(year: int, number: int) -> Period:
    """Return a season, from 0 for spring to 3 for winter, by the year it begins in."""
    return months(year, 3 + 3 * number, 3, "season")


def a_year(year: int) -> Period:
    """Return the period of one year."""
    return months(year, 1, 12, "year")


def a_decade(year: int) -> Period:
    """Return the ten years that begin with the given one."""
    return months(year, 1, 120, "decade")


def a_unit(unit: TimeUnit, day: date) -> Period:
    """Return the week, month, quarter, year or decade that a day is in."""
    match unit.precision:
        case "week":
            return a_week(day)
        case "quarter":
            return a_quarter(day.year, (day.month + 2) // 3)
        case "year":
            return a_year(day.year)
        case "decade":
            return a_decade(day.year // 10 * 10)
        case "month":
            return a_month(day.year, day.month)
        case _:
            return a_day(day)


def add_months(day: date, count: int) -> date:
    """Return the same day a number of months later, or the last of that month if it is shorter."""
    year, month = divmod(day.year * _MONTHS_A_YEAR + day.month - 1 + count, _MONTHS_A_YEAR)
    if not 1 <= year <= 9999:
        raise ValueError(f"year {year} is not in the calendar")
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def add_units(day: date, unit: TimeUnit, count: float) -> date:
    """Return the day a number of units later; half a unit is rounded to whole days or months."""
    return (
        add_months(day, round(unit.months * count)) if unit.months else day + timedelta(days=round(unit.days * count))
    )


def occurrences(make: Callable[[int], Period], year: int) -> Iterator[Period]:
    """Yield the occurrences of a yearly event in the years around one, in order; skip years without it."""
    for near in range(year - _YEARS_IN_REACH, year + _YEARS_IN_REACH + 1):
        try:
            yield make(near)
        except (ValueError, OverflowError):
            continue


def pick_yearly(make: Callable[[int], Period], today: date, which: str = "") -> tuple[Period, ...]:
    """Return the occurrence of a yearly event that is meant: the latest begun, or the one by the tag L, T or X."""
    found = list(occurrences(make, today.year))
    now = midnight(today)
    if which == "X":
        return tuple(period for period in found if period.start > now)[:1]
    if which == "T":
        # The current one, because a winter began last year.
        running = [period for period in found if period.start <= now < period.end]
        return tuple(running or [period for period in found if period.start.year == today.year])[:1]
    if which == "L":
        return tuple(period for period in found if period.end <= now)[-1:]
    return tuple(replace(period, cycle="year") for period in found if period.start <= now)[-1:]


def third(period: Period, number: int) -> Period:
    """Return the beginning, middle or end of a period."""
    borders = [_after_thirds(period, each) for each in (number, number + 1)]
    start, end = borders[0], period.end if number == 2 else borders[1]
    return Period(start, end, THIRDS[period.precision], approximate=True, cycle=period.cycle)


def _after_thirds(period: Period, number: int) -> datetime:
    """Return the time after a number of thirds of a period: in whole months if it has enough, else in days."""
    if months := _MONTHS_IN_A_THIRD.get(period.precision):
        return midnight(add_months(period.start.date(), number * months))
    return period.start + (period.end - period.start).days // 3 * number * DAY
