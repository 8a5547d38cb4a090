"""Finds every time that a question names, as a UTC interval relative to today, and scores how well a moment fits.

A text becomes tokens, each with a tag; forms (patterns of tags) turn runs of tokens into times, first the simple ones,
then those that combine others. No form depends on another, so each can be read alone.
"""

import re
from datetime import date, datetime, timedelta
from functools import cache

from recollectum.domain.records import dataclass
from recollectum.text.time.calendar_forms import date_forms
from recollectum.text.time.combined_forms import direction_forms, pair_forms, part_forms
from recollectum.text.time.patterns import reduce_tokens
from recollectum.text.time.periods import Precision
from recollectum.text.time.relative_forms import relative_forms
from recollectum.text.time.tokens import Direction, Token, fold, tokens
from recollectum.text.time.words import vocabulary

#: A question may be any text, but only this many characters are searched for times.
_LONGEST_QUESTION = 10_000
#: Tags of words that only join the words of a time: articles, prepositions, possessives. They make no time alone.
_TIMELESS = frozenset("z!fgta&#q|2FCiIjr")
_WORD = re.compile(r"[^\W_]+")

#: How far outside a range a moment scores one half: for exact words, and for vague words.
_TOLERANCE: dict[Precision, tuple[timedelta, timedelta]] = {
    "moment": (timedelta(minutes=30), timedelta(hours=2)),
    "day": (timedelta(hours=6), timedelta(days=1)),
    "weekend": (timedelta(hours=12), timedelta(days=2)),
    "week": (timedelta(days=1), timedelta(days=4)),
    "month": (timedelta(days=3), timedelta(days=14)),
    "quarter": (timedelta(days=7), timedelta(days=30)),
    "season": (timedelta(days=10), timedelta(days=30)),
    "year": (timedelta(days=14), timedelta(days=120)),
    "decade": (timedelta(days=180), timedelta(days=730)),
}


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The meaning of one expression of a text: from `start` up to but not including `end`, both in UTC.

    An open side, as in "since May", is the first or last moment of the calendar.
    """

    start: datetime
    end: datetime
    #: The expression as written, and its position in the text.
    words: str
    span: tuple[int, int]
    precision: Precision
    direction: Direction
    #: Whether the words are vague about the borders.
    approximate: bool = False
    #: Whether the words have another reading, which is returned beside this one with the same span.
    ambiguous: bool = False

    @property
    def tolerance(self) -> timedelta:
        """Return how far outside the range a moment scores one half."""
        return _TOLERANCE[self.precision][self.approximate]


def time_ranges(text: str, today: date) -> tuple[TimeRange, ...]:
    """Return every time that a text names, in the order of the text."""
    text = text[:_LONGEST_QUESTION]
    if not _may_name_a_time(text):
        return ()
    found = tokens(text)
    for forms in ((*date_forms(), *relative_forms()), part_forms(), pair_forms(), direction_forms()):
        found = reduce_tokens(found, forms, today)
    return tuple(meaning for token in found for meaning in _meanings(token, text))


def _may_name_a_time(text: str) -> bool:
    """Return whether a text has a number or a time word; False is certain, and this is faster than a full search."""
    words = _WORD.findall(fold(text))
    return not _timely().isdisjoint(words) or any(not word.isalpha() for word in words)


@cache
def _timely() -> frozenset[str]:
    """Return the pattern of a word that may be part of a time, except words that only join others."""
    known, _ = vocabulary()
    joins = {word for word, (tag, _) in known.items() if tag in _TIMELESS}
    phrases = [_WORD.findall(words) for words, (tag, _) in known.items() if tag not in _TIMELESS]
    return frozenset(next((word for word in words if word not in joins), words[0]) for words in phrases)


def _meanings(token: Token, text: str) -> list[TimeRange]:
    return [
        TimeRange(
            start=period.start,
            end=period.end,
            words=text[token.start : token.end],
            span=(token.start, token.end),
            precision=period.precision,
            direction=token.direction,
            approximate=period.approximate,
            ambiguous=len(token.readings) > 1,
        )
        for period in token.readings
    ]


def overlap(time_range: TimeRange, moment: datetime) -> float:
    """Return how well a moment with a time zone fits: 1 inside the range, one half at its tolerance, then soon zero."""
    outside = max(time_range.start - moment, moment - time_range.end, timedelta(0))
    return 0.5 ** (outside / time_range.tolerance) ** 2
