"""Finds the events by which a question gives a time, such as "before the trip"."""

import re
from datetime import date
from functools import cache

from recollectum.domain.records import dataclass
from recollectum.text.time.ranges import time_ranges
from recollectum.text.time.tokens import Direction, fold
from recollectum.text.time.words import vocabulary

_LONGEST_QUESTION = 10_000
_MOST_WORDS = 8
_DIRECTIONS: dict[str, Direction] = {
    "before": "before",
    "until": "before",
    "till": "before",
    "prior to": "before",
    "after": "after",
    "since": "after",
    "following": "after",
    "during": "in",
}
_SUBJECTS = frozenset({"i", "you", "we", "they", "he", "she", "it"})
#: Words that end an event: they begin another clause, or a question.
_ENDS = _SUBJECTS | {
    "and",
    "or",
    "but",
    "because",
    "if",
    "so",
    "than",
    "what",
    "who",
    "when",
    "where",
    "which",
    "why",
    "how",
    "did",
    "do",
    "does",
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "will",
    "would",
    "can",
    "could",
    "should",
    "before",
    "after",
    "since",
    "during",
    "until",
    "that",
    "then",
}
#: Words that refer to something said before, or to nothing.
_POINTERS = frozenset({"that", "this", "then", "these", "those", "all", "when", "what", "which", "who", "how", "long"})
#: Numbers begin a duration and not an event.
_NUMBERS = "wc"


@dataclass(frozen=True, slots=True)
class EventReference:
    """The words of an event, and which side of it is meant; `during` is `in`."""

    words: str
    span: tuple[int, int]
    direction: Direction


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    leads = "|".join(lead.replace(" ", r"\s+") for lead in _DIRECTIONS)
    return re.compile(rf"\b({leads})\s+(?=\w)"), re.compile(r"[^\W_](?:[\w'.&/-]*[^\W_])?")


def event_references(text: str) -> tuple[EventReference, ...]:
    """Return the events that a text names after before, after, since, until or during, as far as words show."""
    text = text[:_LONGEST_QUESTION]
    folded = fold(text)
    leads, _ = _patterns()
    found = [(lead, *_event(folded, lead.end())) for lead in leads.finditer(folded)]
    # The day does not matter: only the positions of the times are used.
    times = [one.span for one in time_ranges(text, date(2000, 1, 1))] if found else []
    return tuple(
        EventReference(text[start:end], (start, end), _DIRECTIONS[" ".join(lead[1].split())])
        for lead, start, end in found
        if start < end and not any(first <= start < after for first, after in times)
    )


def _event(folded: str, start: int) -> tuple[int, int]:
    """Return the start and end of the event that begins here, or None."""
    _, word = _patterns()
    end = start
    found = word.match(folded, start)
    if not found or not _begins(found[0]):
        return start, start
    for _ in range(_MOST_WORDS):
        end = found.end()
        found = word.match(folded, end + 1) if folded[end : end + 1] == " " else None
        if not found or found[0] in _ENDS:
            break
    return start, end


def _begins(first: str) -> bool:
    """Return whether the word may begin an event."""
    if first in _SUBJECTS:
        return True
    counts = first[0].isdigit() or vocabulary()[0].get(first, ("z", 0))[0] in _NUMBERS
    return not counts and first not in _ENDS and first not in _POINTERS
