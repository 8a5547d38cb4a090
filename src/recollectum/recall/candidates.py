"""The chunks that may answer a question: by its words, by its meaning and by the times it names."""

from collections.abc import Sequence

from recollectum.recall.evidence import said_in, standing
from recollectum.recall.nearest import Nearest
from recollectum.recall.when import Named
from recollectum.recall.within import Within
from recollectum.storage.port import Matches, Tx
from recollectum.storage.times import micros
from recollectum.text.terms import QueryTerm, phrases

#: Of what was said in a named time, no more than this is looked through.
_MOST_TIMELY = 20_000
#: How much further down to look, where some of the first may not be served, before all that may be are asked for.
_DEEPER = 8


def by_words(tx: Tx, terms: Sequence[QueryTerm], within: Within, size: int) -> tuple[list[int], Matches]:
    """The chunks that match the words of a question, best first, and every match that was looked at."""
    matches = tx.text.matches(phrases(terms))
    return best_served(tx, terms, matches, within, size) if within.filtered else (matches.best(size), matches)


def best_served(
    tx: Tx, terms: Sequence[QueryTerm], matches: Matches, within: Within, size: int
) -> tuple[list[int], Matches]:
    """The best matches that may be served, one for each text."""
    first = [] if within.narrow else matches.best(_DEEPER * size)
    found = within.best(first, size)
    if len(found) == size:
        return found, matches
    # Also what stands beside nothing else, which is left out of a large index: little may be left.
    every = tx.text.matches(phrases(terms), whole=True)
    if len(first) == len(every):
        return found, matches
    scores = every.scores(list(within.everything()))
    ordered = sorted(scores, key=lambda number: (-scores[number], -number))
    return within.best(ordered, size), every


def by_meaning(tx: Tx, within: Within, nearest: Nearest | None, size: int) -> list[int]:
    """The chunks nearest in meaning, nearest first."""
    if nearest is None:
        return []
    if within.filtered:
        return nearest_served(within, nearest, size)
    found = nearest.best(size + nearest.stale, None)
    if nearest.stale:
        # What was taken out since must not take the places of what stands.
        there = standing(tx, found)
        found = [number for number in found if number in there]
    return found[:size]


def nearest_served(within: Within, nearest: Nearest, size: int) -> list[int]:
    """The nearest that may be served, one for each text."""
    found = [] if within.narrow else nearest.best(_DEEPER * size, None)
    served = within.best(found, size)
    if len(served) == size or (found and len(found) < _DEEPER * size):
        return served
    return nearest.best(size, within.everything())


def by_time(tx: Tx, times: Sequence[Named], nearest: Nearest | None, size: int) -> list[int]:
    """Chunks of what was said in a time that the question names: the nearest in meaning, or else the newest."""
    said: set[int] = set()
    for one in times:
        if one.bounded:
            said.update(said_in(tx, micros(one.time.start), micros(one.time.end), _MOST_TIMELY))
    if not said:
        return []
    return nearest.best(size, said) if nearest else sorted(said)[-size:]
