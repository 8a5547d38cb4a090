"""Splits a text into tokens of time: words, numbers, numeric dates and marks, each with its tag."""

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Literal

from recollectum.domain.records import dataclass
from recollectum.text.time.periods import Period, a_day, a_month
from recollectum.text.time.words import vocabulary

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
_DIGITS_OF_A_NUMERIC_YEAR, _NEXT_CENTURY = 4, 70
_MINUTES_END = len("2023-05-08T13:56")


def read_numeric(written: str) -> tuple[Period, ...]:
    """Return the readings of a numeric date: none, one period, or two if day and month could be swapped."""
    if ":" in written:
        return _moment(written)
    parts = _SPLIT.split(written)
    numbers = [int(part) for part in parts]
    if len(parts) == 2:
        return (a_month(*numbers),)
    if len(parts[0]) == _DIGITS_OF_A_NUMERIC_YEAR:
        return (a_day(date(*numbers)),)
    first, second, year = numbers
    if len(parts[2]) < _DIGITS_OF_A_NUMERIC_YEAR:
        year += 2000 if year < _NEXT_CENTURY else 1900
    # With dots the day comes first everywhere; with slashes and dashes it depends on the country.
    orders = [(second, first)] if "." in written else [(second, first), (first, second)]
    legal = dict.fromkeys((month, day) for month, day in orders if _exists(year, month, day))
    return tuple(a_day(date(year, month, day)) for month, day in legal)


def _moment(written: str) -> tuple[Period, ...]:
    """Return a minute, or a second if one is given."""
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


Direction = Literal["in", "before", "after"]
_MARKS = {",": ",", ".": ".", "-": "-", "–": "-", "—": "-", "%": "#", "€": "#"}
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_DIGITS_OF_A_YEAR, _FIRST_YEAR, _LAST_YEAR = 4, 1000, 2999


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text with its tag, and its readings as a time."""

    tag: str
    start: int
    end: int
    value: int = 0
    readings: tuple[Period, ...] = ()
    direction: Direction = "in"


def fold(text: str) -> str:
    """Return the text in lower case and without accents, each character at its position."""
    plain = text.translate(_APOSTROPHES)
    return plain.lower() if plain.isascii() else "".join(map(_folded, plain))


def _folded(char: str) -> str:
    lower = unicodedata.normalize("NFD", char)[0].lower()
    return lower if len(lower) == 1 else char


@cache
def _token_pattern() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<date>{NUMERIC_DATE})"
        r"|(?P<decade>(?:(?<!\w)')?(?:[0-9]{2})?[0-9]0'?s\b)"
        r"|(?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th|er)\b)"
        r"|(?P<other>[0-9]+(?:[:.][0-9]+|,[0-9]{3}\b)+)"
        r"|(?P<number>[0-9]{1,9}(?![^\W_]))"
        r"|(?P<word>'s\b|[^\W_]+)"
        r"|(?P<mark>[^\w\s]|_)"
    )


def tokens(text: str) -> list[Token]:
    """Return the words, numbers and marks of a text in order; words of one phrase are one token."""
    folded = fold(text)
    found = list(_token_pattern().finditer(folded))
    result: list[Token] = []
    at = 0
    while at < len(found):
        length, tag, value = _phrase(found, at)
        start, end = found[at].start(), found[at + length - 1].end()
        readings = _numeric(found[at]) if tag == "@" else ()
        result.append(Token(_checked(tag, text[start], readings), start, end, value, readings))
        at += length
    return result


def _phrase(found: list[re.Match[str]], at: int) -> tuple[int, str, int]:
    """Return the number of pieces from here that form one phrase, with their tag and value."""
    words, lengths = vocabulary()
    longest = lengths.get(found[at][0], 1)
    for length in range(min(longest, len(found) - at), 1, -1):
        if known := words.get(" ".join(match[0] for match in found[at : at + length])):
            return length, *known
    return 1, *_single(found[at].lastgroup or "", found[at][0])


def _single(kind: str, written: str) -> tuple[str, int]:
    match kind:
        case "date":
            return "@", 0
        case "decade":
            digits = written.strip("'s")
            return "K" if len(digits) == _DIGITS_OF_A_YEAR else "k", int(digits)
        case "ordinal":
            return "o", int(written[:-2])
        case "number":
            return _number(written)
        case "word":
            if len(written) == 2 and written[0] == "q" and written[1] in "1234":
                return "Q", int(written[1])
            return vocabulary()[0].get(written, ("z", 0))
        case "mark":
            return _MARKS.get(written, "!"), 0
        case _:
            return "z", 0


def _number(written: str) -> tuple[str, int]:
    value = int(written)
    if len(written) <= 2:
        return "n", value
    is_year = len(written) == _DIGITS_OF_A_YEAR and _FIRST_YEAR <= value <= _LAST_YEAR
    return "Y" if is_year else "d", value


def _numeric(match: re.Match[str]) -> tuple[Period, ...]:
    try:
        return read_numeric(match[0])
    except (ValueError, OverflowError):
        return ()


def _checked(tag: str, first: str, readings: tuple[Period, ...]) -> str:
    """Return the tag after a check of the case: a verb with a capital is a month, a weekday without one is no time."""
    if tag == "@" and not readings:
        return "z"
    if tag == "v" and first.isupper():
        return "m"
    return "z" if tag == "x" and not first.isupper() else tag
