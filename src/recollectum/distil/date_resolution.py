"""Rewrites English relative dates such as "tomorrow" as the calendar day that was meant."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache

_DAYS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_STEPS = {"last": -1, "this": 0, "next": 1}
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SOME = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3}|a few|a couple of|some|several)"
_UNIT = "(?:day|week|fortnight|month|year)s?"
# A preposition before a day, a month or a year makes another one unnecessary.
_DAY = rf"(?:(?P<by>by|before|until|till|from|since|for|after|on|of)\s+)?(?P<day>{'|'.join(_DAYS)})\b(?!['’-])"
_PERIOD = (
    r"(?:(?P<within>by|before|until|till|from|since|for|after|of|in)\s+)?"
    r"(?P<step>last|this|next) (?P<unit>year|month)\b(?!['’-])"
)
_SAID = "(said on "
#: Words that can mean several days: the reader judges them, and only needs to know when they were said.
_VAGUE = (
    rf"\b(?:(?:next|last|this|by|on|until|till|before|since|from|coming) {_WEEKDAY}\b(?!s)"
    rf"|(?:next|last|this|coming) (?:week|weekend|night|spring|summer|autumn|fall|winter|term|semester)\b"
    rf"|in {_SOME} (?:more )?{_UNIT}\b|{_SOME} {_UNIT} ago\b|tonight\b|soon\b|recently\b|the other day\b)"
)


def resolve_dates(content: str, said_on: date) -> str:
    """Return the content with relative days, months and years written out; otherwise unchanged."""
    exact = _exact().sub(_written(said_on), content)
    if _SAID in exact or not _vague().search(exact):
        return exact
    told = exact.rstrip(" .!")
    return f"{told} {_SAID}{said_on.isoformat()}){exact[len(told) :].strip()}"


@cache
def _exact() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_DAY}|{_PERIOD})", re.IGNORECASE)


@cache
def _vague() -> re.Pattern[str]:
    return re.compile(_VAGUE, re.IGNORECASE)


def _written(said_on: date) -> Callable[[re.Match[str]], str]:
    def write(found: re.Match[str]) -> str:
        if found["day"]:
            meant = said_on + timedelta(days=_DAYS[found["day"].lower()])
            return f"{found['by'] or ('On' if found[0][0].isupper() else 'on')} {meant.isoformat()}"
        step = _STEPS[found["step"].lower()]
        word = found["within"] or ("In" if found[0][0].isupper() else "in")
        if found["unit"].lower() == "year":
            return f"{word} {said_on.year + step}"
        month = said_on.year * 12 + said_on.month - 1 + step
        return f"{word} {month // 12}-{month % 12 + 1:02d}"

    return write
