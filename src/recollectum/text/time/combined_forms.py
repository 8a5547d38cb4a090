"""Forms that combine times: a part of a time, a range between two, before and after."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import product

from recollectum.text.time.patterns import Reader, Readings, TimeForm, form, pick, value
from recollectum.text.time.periods import (
    DAY,
    THIRDS,
    UNITS,
    Period,
    a_day,
    a_month,
    a_week,
    a_weekend,
    add_months,
    add_units,
    occurrences,
    stretch,
    third,
)
from recollectum.text.time.relative_forms import COUNT, around, counted
from recollectum.text.time.tokens import Token

#: The start of "before 2021" and the end of "since May".
EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)

_MONTHS_IN_REACH = 3


@cache
def part_forms() -> tuple[TimeForm, ...]:
    """Return the forms of a part of a time, or of a time beside another."""
    return (
        form("t? e (?: - | i t? )? @ | t? b f t? @", _third),
        form("t? [OL] h f t? @", _half),
        form("t? [OL] U [fi] t? @", _numbered),
        form("t? [EU] f t? @", _containing),
        form("t? @ [<>] t? @", _weekday_beside),
        # Without "the" or a number it may be "how many days before".
        form(f"t {COUNT}? U [<>] t? @ | {COUNT} U [<>] t? @", _beside),
        form("t? E [<>] t? @", _weekend_beside),
    )


@cache
def pair_forms() -> tuple[TimeForm, ...]:
    """Return the forms of a range from one time to another."""
    return (
        form("C t? @ & t? @ | F? t? @ [-2] t? @ | F t? @ [)] t? @", _pair),
        form("[CF]? t? [onO] [-2] t? @ | C t? [onO] & t? @", _days_up_to),
        form("F? t? @ [-2)] N", _up_to_now),
    )


@cache
def direction_forms() -> tuple[TimeForm, ...]:
    """Return the forms of a time before, until, since, after or about another."""
    return (
        form("[<B] t? @", _each(lambda period: replace(period, start=EARLIEST, end=period.start)), "before"),
        form("[)] t? @", _each(lambda period: replace(period, start=EARLIEST)), "before"),
        form("[(] t? @ | F t? @ j (?! @ )", _each(lambda period: replace(period, end=LATEST)), "after"),
        form("> t? @", _each(lambda period: replace(period, start=period.end, end=LATEST)), "after"),
        form("~ t? @", _each(lambda period: replace(period, approximate=True))),
    )


def _each(change: Callable[[Period], Period]) -> Reader:
    return lambda tokens, _today: tuple(map(change, _known(tokens)))


def _known(tokens: Sequence[Token]) -> Readings:
    """Return the readings of the last time among the tokens."""
    return next(token.readings for token in reversed(tokens) if token.readings)


def _third(tokens: Sequence[Token], _today: date) -> Readings:
    return tuple(third(period, value(tokens, "eb")) for period in _known(tokens) if period.precision in THIRDS)


def _half(tokens: Sequence[Token], _today: date) -> Readings:
    last = pick(tokens, "L") is not None or value(tokens, "O") == 2

    def half(period: Period) -> Period:
        middle = period.start + (period.end - period.start).days // 2 * DAY
        return (
            replace(period, start=middle, approximate=True) if last else replace(period, end=middle, approximate=True)
        )

    return tuple(map(half, _known(tokens)))


def _numbered(tokens: Sequence[Token], _today: date) -> Readings:
    """Return a numbered part, such as the second week of May or the last day of the year."""
    unit, ordinal = UNITS[value(tokens, "U")], pick(tokens, "O")

    def part(period: Period) -> Period:
        first, after = period.start.date(), period.end.date()
        start = add_units(first, unit, ordinal.value - 1) if ordinal else add_units(after, unit, -1)
        end = min(after, add_units(start, unit, 1))
        return stretch(start, end, unit.precision, approximate=unit.precision != "day")

    return tuple(part(period) for period in _known(tokens) if period.end - period.start > unit.length * DAY)


def _containing(tokens: Sequence[Token], _today: date) -> Readings:
    """Return the unit around a time, such as the week of 5 June or the month of May."""
    unit = pick(tokens, "U")
    precision = UNITS[unit.value].precision if unit else "weekend"
    if all(period.precision == precision for period in _known(tokens)):
        return _known(tokens)
    if precision not in ("week", "weekend"):
        return ()
    days = [period.start.date() for period in _known(tokens) if period.precision == "day"]
    # On a Monday or Tuesday the previous weekend is nearer.
    return tuple(a_week(day) if unit else a_weekend(day - 2 * DAY) for day in days)


def _weekday_beside(tokens: Sequence[Token], today: date) -> Readings:
    """Return a weekday or weekend beside a time, such as the Sunday before 25 May."""
    first = next(token.readings[0] for token in tokens if token.readings)
    if first.precision == "weekend":
        return _weekend_beside(tokens, today)
    if first.cycle != "week":
        return ()
    if pick(tokens, "<"):
        found = [_nearest(first, period.start - DAY, forward=False) for period in _known(tokens)]
    else:
        found = [_nearest(first, period.end, forward=True) for period in _known(tokens)]
    return tuple(replace(period, cycle=None) for period in found)


def _beside(tokens: Sequence[Token], _today: date) -> Readings:
    """Return a unit beside a time: "the week before" is the whole week, "two weeks before" is about one day."""
    count, guess = counted(tokens)
    unit = UNITS[value(tokens, "U")]
    sign = -1 if pick(tokens, "<") else 1

    def beside(period: Period) -> Period:
        near = period.start.date() if sign < 0 else (period.end - timedelta(microseconds=1)).date()
        if tokens[0].tag != "t":
            return around(add_units(near, unit, sign * count), unit, count, guess=guess)[0]
        border = near if sign < 0 else near + DAY
        start, after = sorted((border, add_units(border, unit, sign * count)))
        return stretch(start, after, unit.precision)

    return tuple(map(beside, _known(tokens)))


def _weekend_beside(tokens: Sequence[Token], _today: date) -> Readings:
    def beside(period: Period) -> Period:
        if pick(tokens, "<"):
            found = a_weekend(period.start.date())
            return found if found.end <= period.start else a_weekend(period.start.date() - 7 * DAY)
        found = a_weekend(period.end.date())
        return found if found.start >= period.end else a_weekend(period.end.date() + 7 * DAY)

    return tuple(map(beside, _known(tokens)))


def _pair(tokens: Sequence[Token], _today: date) -> Readings:
    first, second = (token.readings for token in tokens if token.readings)
    # A person who writes the month first writes it first in both dates.
    pairs = zip(first, second, strict=True) if len(first) == len(second) else product(first, second)
    return tuple(_joined(*pair) for pair in pairs)


def _joined(first: Period, second: Period) -> Period:
    if first.cycle:
        first = _nearest(first, second.start, forward=False)
    elif second.cycle:
        second = _nearest(second, first.end, forward=True)
    vague = first.approximate or second.approximate
    return Period(first.start, second.end, second.precision, vague, second.cycle)


def _days_up_to(tokens: Sequence[Token], _today: date) -> Readings:
    """Return a range of days such as 3 to 5 June."""
    number = value(tokens, "onO")

    def days(last: Period) -> Period:
        start = last.start.replace(day=number)
        return replace(last, start=start if start < last.start else last.end)

    return tuple(days(period) for period in _known(tokens) if period.precision == "day")


def _up_to_now(tokens: Sequence[Token], today: date) -> Readings:
    return tuple(replace(period, end=a_day(today).end) for period in _known(tokens))


def _nearest(period: Period, limit: datetime, *, forward: bool) -> Period:
    """Return the first recurrence not before the limit, or the last not after it."""
    again = sorted(_again(period, limit.date()), key=lambda each: each.start)
    if forward:
        return next((each for each in again if each.start >= limit), period)
    return next((each for each in reversed(again) if each.start <= limit), period)


def _again(period: Period, near: date) -> Iterator[Period]:
    first = period.start.date()
    if period.cycle == "week":
        monday = near - near.weekday() * DAY
        for weeks in (-1, 0, 1):
            yield replace(a_day(monday + (first.weekday() + 7 * weeks) * DAY), cycle="week")
    elif period.cycle == "month":
        for months in range(-_MONTHS_IN_REACH, _MONTHS_IN_REACH + 1):
            day = add_months(near.replace(day=1), months) + (first.day - 1) * DAY
            if day.day == first.day:
                yield replace(a_day(day), cycle="month")
    else:
        yield from occurrences(lambda year: _in_year(period, year), near.year)


def _in_year(period: Period, year: int) -> Period:
    if period.precision == "month":
        return replace(a_month(year, period.start.month), cycle="year")
    start = period.start.replace(year=year)
    return replace(period, start=start, end=start + (period.end - period.start))
