"""The chunks that may answer a question: by its words, by its meaning and by the times it names."""

from collections.abc import Sequence

from recollect.recall.evidence import allowed, said_in, standing, to_list
from recollect.recall.filters import FILTERED, ROWS
from recollect.recall.nearest import Nearest
from recollect.recall.when import Named
from recollect.storage.port import Matches, Params, Tx
from recollect.storage.times import micros
from recollect.text.terms import QueryTerm, phrases

#: Of what was said in a named time, no more than this is looked through.
_MOST_TIMELY = 20_000
#: How much further down to look for what is near and may be served.
_DEEPER = 8
#: Matches that are looked up at once to see which may be served.
_BLOCK = 256
_SERVED = f"""
    SELECT chunks.number, chunks.source, chunks.source_number
      FROM json_each(:numbers) AS wanted {ROWS.format(numbers="wanted.value")}
     WHERE {FILTERED}
"""  # noqa: S608  (constants of these files)


def by_words(
    tx: Tx, terms: Sequence[QueryTerm], params: Params, size: int, *, filtered: bool
) -> tuple[list[int], Matches]:
    """The chunks that match the words of a question, best first, and every match that was looked at."""
    matches = tx.text.matches(phrases(terms))
    return (best_served(tx, terms, matches, params, size)) if filtered else (matches.best(size), matches)


def best_served(
    tx: Tx, terms: Sequence[QueryTerm], matches: Matches, params: Params, size: int
) -> tuple[list[int], Matches]:
    """The best matches that may be served, one for each text; of all chunks where the first look finds too few."""
    found = _served(tx, matches.best(len(matches)), params, size)
    if len(found) == size:
        return found, matches
    # In a large index what stands beside nothing else was left out; under a filter little may be left.
    every = tx.text.matches(phrases(terms), whole=True)
    return (_served(tx, every.best(len(every)), params, size), every) if len(every) > len(matches) else (found, matches)


def _served(tx: Tx, ordered: list[int], params: Params, size: int) -> list[int]:
    """The best piece of each text that may be served: one long text must not take the places of all others."""
    best: dict[tuple[str, int], int] = {}
    for start in range(0, len(ordered), _BLOCK):
        block = ordered[start : start + _BLOCK]
        rows = tx.rows(_SERVED, {**params, "numbers": to_list(block)})
        places = {number: (source, source_number) for number, source, source_number in rows}
        for number in block:
            if number in places:
                best.setdefault(places[number], number)
        if len(best) >= size:
            break
    return list(best.values())[:size]


def by_meaning(tx: Tx, params: Params, nearest: Nearest | None, size: int, *, filtered: bool) -> list[int]:
    """The chunks nearest in meaning, nearest first."""
    if nearest is None:
        return []
    found = nearest.best(size + nearest.stale, allowed(tx, params) if filtered else None)
    if nearest.stale:
        # What was taken out since must not take the places of what stands.
        there = standing(tx, found)
        found = [number for number in found if number in there]
    return found[:size]


def nearest_served(tx: Tx, nearest: Nearest, params: Params, size: int) -> list[int]:
    """The nearest that may be served, one for each text: further down, and among all where that is not enough."""
    found = nearest.best(_DEEPER * size, None)
    served = _served(tx, found, params, size)
    if len(served) == size or len(found) < _DEEPER * size:
        return served
    return nearest.best(size, allowed(tx, params))


def by_time(tx: Tx, times: Sequence[Named], nearest: Nearest | None, size: int) -> list[int]:
    """Chunks of what was said in a time that the question names: the nearest in meaning, or else the newest."""
    said: set[int] = set()
    for one in times:
        if one.bounded:
            said.update(said_in(tx, micros(one.time.start), micros(one.time.end), _MOST_TIMELY))
    if not said:
        return []
    return nearest.best(size, said) if nearest else sorted(said)[-size:]
