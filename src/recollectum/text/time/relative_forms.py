"""Forms that count from today: yesterday, two weeks ago, last Tuesday, the past three days."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache

from recollectum.text.time.patterns import Readings, TimeForm, form, pick, value, which
from recollectum.text.time.periods import DAY, UNITS, TimeUnit, a_day, a_unit, a_week, a_weekend, add_units, stretch
from recollectum.text.time.tokens import Token

#: What may come before a unit: two, a few of, half a, one and a half.
COUNT = "(?: [ndYw] (?: &ah )? | a? c f? | h a? | a h? )"
_WEEK_UNIT = 1
_STEPS = {"L": -1, "T": 0, "X": 1, "": 0}
#: The uncertainty of a count is one part in this many: ten weeks ago is exact to a week.
_DOUBT = 10
_DAYS_OF_A_MONTH = 30


@cache
def relative_forms() -> tuple[TimeForm, ...]:
    """Return all forms of this module."""
    # "The last week of May" is no week that counts from today.
    no_part = "(?! [fi] t? [MmvsGYLTXSHKk@] )"
    return (
        form("D R?", _near_day),
        form("T R | L R", _time_of_day),
        form("V", _vague),
        form(rf"(?<!&) {COUNT} [Uu] (?: &ah )? A | B {COUNT} [Uu]", _ago),
        form("[ndw] [-2|] [ndw] U A", _ago_between),
        form(f"{COUNT} U p", _from_now),
        form(f"{COUNT} E A | [LTX] E | E [ly] | (?<=[jr]) t E", _weekend),
        form(rf"t? [LPX] {COUNT} U | t? P U | t L U {no_part}", _rolling),
        form(rf"[LTX] U {no_part} | U [ly]", _unit),
        form("(?<!q) [LTX]? W [ly]? R? | (?<=[j<>()]) x | [LTX] x", _weekday),
        form("W [fj]? t? [LTX] U | [LTX] U j? W", _weekday_of_week),
    )


def counted(tokens: Sequence[Token]) -> tuple[float, bool]:
    """Return the number before a unit, and whether it is only approximate."""
    found = pick(tokens, "ndYwc")
    half = pick(tokens, "h")
    if not found:
        # "Half a year" has no number; in "a year and a half" the article is one.
        return (1.5 if pick(tokens, "&") else 0.5) if half else 1, False
    return found.value + (0.5 if half else 0), found.tag == "c"


def around(day: date, unit: TimeUnit, count: float, *, guess: bool) -> Readings:
    """Return the unit of time around a day that is a number of units from another."""
    length = unit.length * count
    half = int(length / 2 if guess or count < 1 else max(unit.length / 2, length / _DOUBT))
    found = stretch(day - half * DAY, day + (half + 1) * DAY, unit.precision)
    return (replace(found, approximate=half > 0),)


def _near_day(tokens: Sequence[Token], today: date) -> Readings:
    return (a_day(today + value(tokens, "D") * DAY),)


def _time_of_day(tokens: Sequence[Token], today: date) -> Readings:
    """Return the period of a time of day: this morning is today; last night is yesterday evening and night."""
    if pick(tokens, "T"):
        return (a_day(today),)
    yesterday = a_day(today - DAY)
    return (replace(yesterday, start=yesterday.end - timedelta(hours=6), end=yesterday.end + timedelta(hours=6)),)


def _vague(tokens: Sequence[Token], today: date) -> Readings:
    days = value(tokens, "V")
    return (stretch(today - days * DAY, today + DAY, "week" if days < _DAYS_OF_A_MONTH else "month", approximate=True),)


def _ago(tokens: Sequence[Token], today: date) -> Readings:
    count, guess = counted(tokens)
    unit = pick(tokens, "U")
    if not unit:
        # For hours and minutes, only the current day is known, so it is today, or as many days before.
        return (stretch(today - int(count) // 24 * DAY - DAY, today + DAY, "day", approximate=True),)
    return around(add_units(today, UNITS[unit.value], -count), UNITS[unit.value], count, guess=guess)


def _ago_between(tokens: Sequence[Token], today: date) -> Readings:
    unit = UNITS[value(tokens, "U")]
    low, high = sorted(token.value for token in tokens if token.tag in "ndw")
    (far,) = around(add_units(today, unit, -high), unit, high, guess=False)
    (near,) = around(add_units(today, unit, -low), unit, low, guess=False)
    return (replace(far, end=near.end, approximate=True),)


def _from_now(tokens: Sequence[Token], today: date) -> Readings:
    count, guess = counted(tokens)
    unit = UNITS[value(tokens, "U")]
    return around(add_units(today, unit, count), unit, count, guess=guess)


def _weekend(tokens: Sequence[Token], today: date) -> Readings:
    if pick(tokens, "A"):
        return (a_weekend(today - timedelta(weeks=int(counted(tokens)[0]))),)
    step = _STEPS[which(tokens)]
    if pick(tokens, "t") and today.weekday() < 5:
        step = -1
    return (a_weekend(today + timedelta(weeks=step)),)


def _rolling(tokens: Sequence[Token], today: date) -> Readings:
    """Return an amount of time up to now, or from now on."""
    count, guess = counted(tokens)
    unit = UNITS[value(tokens, "U")]
    if pick(tokens, "X"):
        return (stretch(today, add_units(today, unit, count) + DAY, unit.precision, approximate=guess),)
    return (stretch(add_units(today, unit, -count), today + DAY, unit.precision, approximate=guess),)


def _unit(tokens: Sequence[Token], today: date) -> Readings:
    unit = UNITS[value(tokens, "U")]
    if unit.precision == "day":
        # "The last day", "this day": part of something, and not of the calendar.
        return ()
    return (a_unit(unit, add_units(today, unit, _STEPS[which(tokens)])),)


def _weekday(tokens: Sequence[Token], today: date) -> Readings:
    number = value(tokens, "Wx")
    match which(tokens):
        case "T":
            day = a_week(today).start.date() + number * DAY
        case "X":
            day = today + ((number - today.weekday() - 1) % 7 + 1) * DAY
        case "L":
            day = today - ((today.weekday() - number - 1) % 7 + 1) * DAY
        case _:
            return (replace(a_day(today - (today.weekday() - number) % 7 * DAY), cycle="week"),)
    return (a_day(day),)


def _weekday_of_week(tokens: Sequence[Token], today: date) -> Readings:
    if value(tokens, "U") != _WEEK_UNIT:
        return ()
    monday = a_week(today).start.date() + timedelta(weeks=_STEPS[which(tokens)])
    return (a_day(monday + value(tokens, "W") * DAY),)
