"""The chunks that may answer a question: by its words, by its meaning and by the times it names."""

from collections.abc import Sequence

from recollect.recall.evidence import allowed, said_in, standing
from recollect.recall.filters import FILTERED, ROWS
from recollect.recall.nearest import Nearest
from recollect.recall.when import Named
from recollect.storage.port import Params, Row, Tx
from recollect.storage.times import micros
from recollect.text.narrowing import any_of
from recollect.text.terms import QueryTerm, phrases

#: Scores of so many matches are kept: what is found by its meaning has a score by words as well.
_SCORED = 1000
#: Of what was said in a named time, no more than this is looked through.
_MOST_TIMELY = 20_000
_MATCHES = f"""
    SELECT found.number, max(found.score) AS score FROM found {ROWS.format(numbers="found.number")}
     WHERE {FILTERED}
     -- The best piece of each text: one long text must not take the places of all others.
     GROUP BY chunks.source, chunks.source_number
     ORDER BY score DESC, found.number DESC LIMIT :limit
"""  # noqa: S608  (constants of these files)


def by_words(
    tx: Tx, terms: Sequence[QueryTerm], params: Params, size: int, *, filtered: bool
) -> tuple[list[int], dict[int, float]]:
    """The chunks that match the words of a question, best first, and the BM25 of these and others."""
    if filtered:
        scores = every_match(tx, terms, params, size)
    else:
        scores = dict(tx.text.best(phrases(terms), max(_SCORED, size)))
    return list(scores)[:size], scores


def every_match(tx: Tx, terms: Sequence[QueryTerm], params: Params, size: int) -> dict[int, float]:
    """The best of all matches that may be served, one for each text."""
    sought = phrases(terms)
    found: dict[int, float] = {}
    for expression in tx.text.narrow(sought):
        for number, score in _matches(tx, expression, params, size):
            found[number] = max(score, found.get(number, score))
    if sought and len(found) < size:
        # In a large index what stands beside nothing else was left out; under a filter little may be left.
        found.update(_matches(tx, any_of(sought), params, size))
    return dict(sorted(found.items(), key=lambda one: (-one[1], -one[0]))[:size])


def _matches(tx: Tx, expression: str, params: Params, size: int) -> list[Row]:
    return tx.rows(
        f"WITH found AS ({tx.text.matching}) {_MATCHES}", {**params, "expression": expression, "limit": size}
    )


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


def by_time(tx: Tx, times: Sequence[Named], nearest: Nearest | None, size: int) -> list[int]:
    """Chunks of what was said in a time that the question names: the nearest in meaning, or else the newest."""
    said: set[int] = set()
    for one in times:
        if one.bounded:
            said.update(said_in(tx, micros(one.time.start), micros(one.time.end), _MOST_TIMELY))
    if not said:
        return []
    return nearest.best(size, said) if nearest else sorted(said)[-size:]
