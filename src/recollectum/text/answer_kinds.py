"""Recognises questions for a time or a number, and texts that have one."""

import re
from enum import StrEnum
from functools import cache

from recollectum.text.time.words import vocabulary


class AnswerKind(StrEnum):
    """What a question asks for, where its words say so."""

    TIME = "time"
    NUMBER = "number"


_TIME = (
    r"\bwhen (?:did|was|were|is|are|does|do|will|has|have|had|would|am|can)\b|^\W*(?:since |until )?when\b"
    r"|\b(?:what|which) (?:date|day|month|year|time|week|season)\b|\bhow long ago\b"
    r"|\bwann\b|\bquand\b|\bcuándo\b|\bquando\b|\bwanneer\b|いつ|何時|何月|何日|何年"
)
_NUMBER = (
    r"\bhow (?:many|much|often|old|tall|far|big|large|long|heavy|fast|high)\b"
    r"|\bwie (?:viele?|oft|alt|lange|weit|groß|hoch)\b|\bcombien\b|\bcuánt[oa]s?\b|\bquant[oaie]s?\b|\bhoeveel\b"
    r"|いくつ|いくら|何(?:人|回|個|本|冊|歳|キロ)"
)
_ASKED = ((AnswerKind.TIME, _TIME), (AnswerKind.NUMBER, _NUMBER))
#: The tags of words that name a time: months, weekdays, days, units, holidays, seasons, and "last", "next" and "ago".
_TIME_TAGS = frozenset("MmsGWxDUuVSHRELlXyAPN")
_NUMBER_TAGS = frozenset("wc")
_NUMBER_WORDS = frozenset(["hundred", "thousand", "million", "dozen", "once", "twice", "both"])
_DIGIT = re.compile(r"[0-9]")
#: A year, the day of a month, or a time of the day.
_DIGITS_OF_TIME = re.compile(r"\b(?:19|20)[0-9]{2}\b|\b[0-9]{1,2}(?:st|nd|rd|th|[:.][0-9]{2})\b|[0-9][年月日時]")
_PUNCTUATION = str.maketrans(dict.fromkeys(".,;:!?()[]{}\"“”„«»…-–—/’'", " "))


@cache
def _questions() -> tuple[tuple[AnswerKind, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in _ASKED)


@cache
def _words(kind: AnswerKind) -> frozenset[str]:
    """Return the words that show a time, or a number above one, in seven languages."""
    tags = _TIME_TAGS if kind is AnswerKind.TIME else _NUMBER_TAGS
    listed, _ = vocabulary()
    found = {word for word, (tag, value) in listed.items() if tag in tags and (tag != "w" or value > 1)}
    return frozenset(found if kind is AnswerKind.TIME else found | _NUMBER_WORDS)


def asked_kind(question: str) -> AnswerKind | None:
    """Return whether a question asks for a time or for a number; None for every other text."""
    return next((kind for kind, words in _questions() if words.search(question)), None)


def has_kind(text: str, kind: AnswerKind) -> bool:
    """Return whether a text has a time or a number."""
    digits = _DIGITS_OF_TIME if kind is AnswerKind.TIME else _DIGIT
    return digits.search(text) is not None or not _words(kind).isdisjoint(
        text.casefold().translate(_PUNCTUATION).split()
    )
