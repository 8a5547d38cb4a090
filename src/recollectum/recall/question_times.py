"""Finds the times that a question names, by calendar or by event, and scores how well a text fits them."""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from recollectum.storage.port import Params, Tx
from recollectum.storage.tables.index import search
from recollectum.storage.times import moment
from recollectum.text.terms.analyser import phrases, query_terms

if TYPE_CHECKING:
    from recollectum.text.time.ranges import TimeRange

#: An event is found by its words and dated by when it was mentioned, so its time counts for less.
_EVENT_WEIGHT = 0.5
_EVENT_MARGIN = timedelta(days=3)
#: Matches of an event that are looked at first.
_FIRST = 50
_ALWAYS = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
_RELATIVE = re.compile(r"\b(ago|last|past|previous|recent|this|next|yesterday|today|tomorrow)\b", re.IGNORECASE)


class NamedTime(NamedTuple):
    """A time that a question names, and its weight."""

    time: "TimeRange"
    weight: float

    @property
    def bounded(self) -> bool:
        """Return whether the time has a start and an end."""
        return self.time.start > _ALWAYS[0] and self.time.end < _ALWAYS[1]


def named_times(tx: Tx, question: str, now: datetime, params: Params) -> list[NamedTime]:
    """Return every time that a question names."""
    # Import here: the time words of seven languages are needed for a question only.
    from recollectum.text.time.event_references import event_references  # noqa: PLC0415
    from recollectum.text.time.ranges import time_ranges  # noqa: PLC0415

    named = [NamedTime(found, 1.0) for found in time_ranges(question, now.date())]
    for event in event_references(question):
        at = _event_time(tx, event.words, params)
        if at:
            named.append(NamedTime(_time_around(at, event.direction, event.words, event.span), _EVENT_WEIGHT))
    return named


def without_relative_times(question: str, named: list[NamedTime]) -> str:
    """Return a question without words such as "last week": a stored text that says "last week" means another one."""
    for one in sorted(named, key=lambda one: one.time.span, reverse=True):
        if one.weight == 1.0 and _RELATIVE.search(one.time.words):
            start, end = one.time.span
            question = f"{question[:start]} {question[end:]}"
    return question


def time_fit(named: list[NamedTime], created: int) -> float:
    """Return how well a time, in microseconds, fits the times that a question names, from 0 to 1."""
    if not named:
        return 0.0
    from recollectum.text.time.ranges import overlap  # noqa: PLC0415 - see above

    at = moment(created)
    return max(one.weight * overlap(one.time, at) for one in named)


def _event_time(tx: Tx, words: str, params: Params) -> datetime | None:
    """Return when the event with these words was mentioned, by the best match that may be served."""
    sought = phrases(query_terms(words))
    matches = tx.text.matches(sought)
    # A frequent word has thousands of matches, and the best one that may be served is nearly always among the first.
    for most in (_FIRST, len(matches)):
        at = search.first_made_at(tx, matches.best(most), params)
        if at is not None:
            return moment(at)
    return None


def _time_around(at: datetime, direction: str, words: str, span: tuple[int, int]) -> "TimeRange":
    from recollectum.text.time.ranges import TimeRange  # noqa: PLC0415 - see above

    first, last = _ALWAYS
    start, end = {
        "before": (first, at),
        "after": (at, last),
    }.get(direction, (at - _EVENT_MARGIN, at + _EVENT_MARGIN))
    return TimeRange(start, end, words, span, "day", "in")
