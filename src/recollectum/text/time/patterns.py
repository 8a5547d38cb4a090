"""Matches patterns of tags against time tokens; the longest match with a reading wins."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import TypeAlias

from recollectum.domain.records import dataclass
from recollectum.text.time.periods import Period
from recollectum.text.time.tokens import Direction, Token

Readings: TypeAlias = tuple[Period, ...]
Reader: TypeAlias = Callable[[Sequence[Token], date], Readings]

_SILENT = frozenset("z!,.#")


@dataclass(frozen=True, slots=True)
class TimeForm:
    """A pattern of tags, and a function that reads matching tokens; no reading means that it is no time."""

    pattern: re.Pattern[str]
    read: Reader
    direction: Direction | None = None


def form(pattern: str, read: Reader, direction: Direction | None = None) -> TimeForm:
    """Return a form; spaces in the pattern are for readability and are removed."""
    return TimeForm(re.compile(pattern, re.VERBOSE), read, direction)


def pick(tokens: Sequence[Token], tags: str) -> Token | None:
    """Return the first token with one of the tags."""
    return next((token for token in tokens if token.tag in tags), None)


def value(tokens: Sequence[Token], tags: str) -> int:
    """Return the value of the first token with one of the tags; there must be one."""
    return next(token.value for token in tokens if token.tag in tags)


def which(tokens: Sequence[Token]) -> str:
    """Return the tag of the last, this or the next one (L, T, X), or an empty string."""
    found = pick(tokens, "LTXly")
    return {"l": "L", "y": "X"}.get(found.tag, found.tag) if found else ""


def reduce_tokens(tokens: Sequence[Token], forms: Sequence[TimeForm], today: date) -> list[Token]:
    """Return the tokens, with each run that is a time replaced by one token with its readings."""
    tags = "".join(token.tag for token in tokens)
    result: list[Token] = []
    at = 0
    while at < len(tokens):
        length, token = 1, tokens[at]
        if token.tag not in _SILENT:
            length, token = _longest(tokens, tags, at, forms, today)
        result.append(token)
        at += length
    return result


def _longest(tokens: Sequence[Token], tags: str, at: int, forms: Sequence[TimeForm], today: date) -> tuple[int, Token]:
    matches = ((each, found) for each in forms if (found := each.pattern.match(tags, at)))
    for each, found in sorted(matches, key=lambda pair: -pair[1].end()):
        run = tokens[at : found.end()]
        if run and (readings := _read(each, run, today)):
            direction: Direction = each.direction or "in"
            return len(run), Token("@", run[0].start, run[-1].end, 0, readings, direction)
    return 1, tokens[at]


def _read(each: TimeForm, run: Sequence[Token], today: date) -> Readings:
    try:
        readings = each.read(run, today)
    except (ValueError, OverflowError):
        # 31 June, or a year outside the calendar: not a date, so not a time.
        return ()
    return tuple(period for period in readings if period.start < period.end)
