"""Forms that name a date or period of the calendar: dates, months, quarters, years, decades, seasons and holidays."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import cache

from recollectum.text.time.patterns import Readings, TimeForm, form, pick, value, which
from recollectum.text.time.periods import (
    DAY,
    Period,
    a_day,
    a_decade,
    a_month,
    a_quarter,
    a_season,
    a_year,
    add_months,
    pick_yearly,
    stretch,
)
from recollectum.text.time.tokens import Token
from recollectum.text.time.words import HOLIDAYS

_THURSDAY = 3


def holiday(number: int, year: int) -> Period:
    """Return the days of a holiday in a year, by the holiday's number in the word list."""
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
    """Return Easter Sunday of the Gregorian calendar, by Oudin's algorithm."""
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
_MONTH = "MmvsG"
_DAY = "onO"
_EARLIEST_BARE_YEAR, _LATEST_BARE_YEAR = 1800, 2199
_WINTER = 3
_QUARTER_UNIT, _YEAR_UNIT = 4, 3


@cache
def date_forms() -> tuple[TimeForm, ...]:
    """Return all forms of this module."""
    weekday = "(?: [Wx] ,? )?"
    return (
        form(rf"{weekday} t? (?: [no] \.? f? | Of ) [{_MONTH}] \.? ,? f? Y", _full_date),
        form(rf"{weekday} [{_MONTH}] \.? t? [onO] ,? f? Y", _full_date),
        form(rf"{weekday} t? (?: [no] \.? f? | Of ) [MmsG]", _day_of_year),
        # "Option 2 may be better": the verb needs more than a number before it.
        form(r"t? (?: o f? | [nO] f | (?<=[iIjr<>()C&2\-]) n ) v", _day_of_year),
        form(rf"(?: {weekday} [Mms] \.? t? [onO] | v [no] ) (?! [#Uu] )", _day_of_year),
        form(rf"[{_MONTH}] \.? [no] [-2] [no] (?: ,? Y )? (?! [#Uu] )", _days_of_month),
        form(r"(?<=[j<>()]) t o (?= [,.!&|2ij<>()\-] | $ )", _day_of_month),
        form(rf"[{_MONTH}] \.? ,? f? Y", _month_of_year),
        form(r"M | (?<=[fiI<>()~eCgt]) m | (?<=[fiI<>()eC]) [vs] | (?<=[I<>()]) G", _month),
        # Both ends of "from March to May", where both are bare months.
        form(r"(?<=[FC]) [mvs] (?= [-2&j)] ) | (?<=C[Mmvs]&) [mvs] | (?<=C[Mmvs]Y&) [mvs]", _month),
        form(r"[mvs] (?= [-2] [Mmvs] ) | (?<=[MmvsYonO][-2]) [mvs]", _month),
        form(r"[LTX] [Mm] | L [vs] | [MmsG] [ly]", _month),
        form(r"Q (?: f? t? Y )? | t? O U f? t? Y", _quarter),
        form(r"(?<=[fiI<>()eCFtg&|]) Y (?! [#Uu] ) | (?<=~) Y (?! [#Uuz] ) | (?<=e-) Y | t? U Y", _year),
        form(r"(?<=Y[-2)]) Y (?! [#Uu] ) | Y (?= [-2] Y (?! [#Uu] ) )", _year),
        form(r"t? K | t k | (?<=[e\-]) k", _decade),
        form(r"[LTX] S | S [ly] | S ,? f? t? Y | (?<=[fiI<>()e~]) t? S", _season),
        form(r"[LTX] H | H [ly] | H ,? f? Y | (?<=[iIjr<>()e~]) t? H", _holiday),
    )


def _full_date(tokens: Sequence[Token], _today: date) -> Readings:
    return (a_day(date(value(tokens, "Y"), value(tokens, _MONTH), value(tokens, _DAY))),)


def _day_of_year(tokens: Sequence[Token], today: date) -> Readings:
    month, day = value(tokens, _MONTH), value(tokens, _DAY)
    return pick_yearly(lambda year: a_day(date(year, month, day)), today)


def _days_of_month(tokens: Sequence[Token], today: date) -> Readings:
    month = value(tokens, _MONTH)
    first, last = (token.value for token in tokens if token.tag in "no")

    def days(year: int) -> Period:
        return stretch(date(year, month, first), date(year, month, last) + DAY, "day")

    year = pick(tokens, "Y")
    return (days(year.value),) if year else pick_yearly(days, today)


def _day_of_month(tokens: Sequence[Token], today: date) -> Readings:
    """Return the latest day with that number, which not every month has."""
    number = value(tokens, "o")
    for back in range(3):
        month = add_months(today.replace(day=1), -back)
        day = month + (number - 1) * DAY
        if day.month == month.month and day <= today:
            return (replace(a_day(day), cycle="month"),)
    return ()


def _month_of_year(tokens: Sequence[Token], _today: date) -> Readings:
    return (a_month(value(tokens, "Y"), value(tokens, _MONTH)),)


def _month(tokens: Sequence[Token], today: date) -> Readings:
    month = value(tokens, _MONTH)
    return pick_yearly(lambda year: a_month(year, month), today, which(tokens))


def _quarter(tokens: Sequence[Token], today: date) -> Readings:
    unit = pick(tokens, "U")
    if unit and unit.value != _QUARTER_UNIT:
        return ()
    number, year = value(tokens, "QO"), pick(tokens, "Y")
    return (a_quarter(year.value, number),) if year else pick_yearly(lambda near: a_quarter(near, number), today)


def _year(tokens: Sequence[Token], _today: date) -> Readings:
    year, unit = value(tokens, "Y"), pick(tokens, "U")
    if unit and unit.value != _YEAR_UNIT:
        return ()
    return (a_year(year),) if _EARLIEST_BARE_YEAR <= year <= _LATEST_BARE_YEAR else ()


def _decade(tokens: Sequence[Token], today: date) -> Readings:
    """Return the decade; without a century, the latest that has begun."""
    year = value(tokens, "Kk")
    if pick(tokens, "k"):
        year += today.year // 100 * 100
        year -= 100 if year > today.year else 0
    return (a_decade(year),)


def _season(tokens: Sequence[Token], today: date) -> Readings:
    number, year = value(tokens, "S"), pick(tokens, "Y")
    if not year:
        return pick_yearly(lambda near: a_season(near, number), today, which(tokens))
    # The winter of a year may be the one at its start or the one at its end.
    years = (year.value - 1, year.value) if number == _WINTER else (year.value,)
    return tuple(a_season(each, number) for each in years)


def _holiday(tokens: Sequence[Token], today: date) -> Readings:
    number, year = value(tokens, "H"), pick(tokens, "Y")
    return (
        (holiday(number, year.value),)
        if year
        else pick_yearly(lambda near: holiday(number, near), today, which(tokens))
    )
