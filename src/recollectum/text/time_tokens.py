"""Tokens of a text as a reader of dates sees it: each word, number and mark with its tag (see `calendar_words`)."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Literal

from recollectum.text.calendar_words import vocabulary
from recollectum.text.numeric_dates import NUMERIC_DATE, read_numeric
from recollectum.text.periods import Period

Direction = Literal["in", "before", "after"]

_MARKS = {",": ",", ".": ".", "-": "-", "–": "-", "—": "-", "%": "#", "€": "#"}
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_DIGITS_OF_A_YEAR, _FIRST_YEAR, _LAST_YEAR = 4, 1000, 2999


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text with its tag, and what is understood of it."""

    tag: str
    start: int
    end: int
    value: int = 0
    readings: tuple[Period, ...] = ()
    direction: Direction = "in"


def fold(text: str) -> str:
    """The text in lower case and without accents, each character in its place."""
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
    """The words, numbers and marks of a text in order; words that belong together are one."""
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
    """How many pieces from here on belong together, with their tag and value."""
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
    """The tag when the spelling is seen too: a verb that is written with a capital, a weekday that is not."""
    if tag == "@" and not readings:
        return "z"
    if tag == "v" and first.isupper():
        return "m"
    return "z" if tag == "x" and not first.isupper() else tag
