"""Finds candidates for a question: by words (BM25), by vector (cosine), by the times it names, or by substring."""

from collections.abc import Sequence

from recollectum.domain.hit import Hit, Reasons, SearchMode
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.recall.hits import to_hit
from recollectum.recall.question_times import NamedTime
from recollectum.recall.ranking import ParsedQuestion
from recollectum.recall.vectors.query import VectorQuery
from recollectum.storage.port import Matches, Tx
from recollectum.storage.tables.index import hit_rows, search
from recollectum.storage.times import micros
from recollectum.text.terms.analyser import QueryTerm, phrases

#: The most chunks that are searched in a period named by the question.
_MAX_TIME_CANDIDATES = 20_000
#: How many times more candidates to look at, if some of the first may not be served, before all allowed ones are
#: loaded.
_DEEPENING_FACTOR = 8


def find_by_words(tx: Tx, terms: Sequence[QueryTerm], within: AllowedChunks, size: int) -> tuple[list[int], Matches]:
    """Return the chunks that match the words of a question, best first, and all matches."""
    matches = tx.text.matches(phrases(terms))
    return best_allowed_matches(tx, terms, matches, within, size) if within.filtered else (matches.best(size), matches)


def best_allowed_matches(
    tx: Tx, terms: Sequence[QueryTerm], matches: Matches, within: AllowedChunks, size: int
) -> tuple[list[int], Matches]:
    """Return the best matches that may be served, one for each text."""
    first = [] if within.narrow else matches.best(_DEEPENING_FACTOR * size)
    found = within.best(first, size)
    if len(found) == size:
        return found, matches
    if matches.whole and len(first) == len(matches):
        return found, matches
    allowed = within.everything()
    # Include matches with one frequent word only, which a large index leaves out: few chunks may be allowed.
    every = matches if matches.whole else tx.text.matches(phrases(terms), among=allowed)
    scores = every.scores(list(allowed))
    ordered = sorted(scores, key=lambda number: (-scores[number], -number))
    return within.best(ordered, size), every


def find_by_vector(tx: Tx, within: AllowedChunks, nearest: VectorQuery | None, size: int) -> list[int]:
    """Return the chunks with the nearest vectors, nearest first."""
    if nearest is None:
        return []
    if within.filtered:
        return nearest_allowed(within, nearest, size)
    found = nearest.best(size + nearest.stale, None)
    if nearest.stale:
        # Deleted chunks must not take the places of existing ones.
        there = search.existing(tx, found)
        found = [number for number in found if number in there]
    return found[:size]


def nearest_allowed(within: AllowedChunks, nearest: VectorQuery, size: int) -> list[int]:
    """Return the nearest chunks that may be served, one for each text."""
    found = [] if within.narrow else nearest.best(_DEEPENING_FACTOR * size, None)
    served = within.best(found, size)
    if len(served) == size or (found and len(found) < _DEEPENING_FACTOR * size):
        return served
    return nearest.best(size, within.everything())


def find_by_time(tx: Tx, times: Sequence[NamedTime], nearest: VectorQuery | None, size: int) -> list[int]:
    """Return the chunks from a period that the question names: the nearest by vector, or else the newest."""
    said: set[int] = set()
    for one in times:
        if one.bounded:
            said.update(search.in_time(tx, micros(one.time.start), micros(one.time.end), _MAX_TIME_CANDIDATES))
    if not said:
        return []
    return nearest.best(size, said) if nearest else sorted(said)[-size:]


_SHORTEST = 2
#: The most rows that are searched, the newest first: the last resort must not read the whole vault.
_MOST_ROWS = 20_000


def find_substring(tx: Tx, question: ParsedQuestion, limit: int) -> list[tuple[int, Hit]]:
    """Return the newest texts that contain the query as typed, each with its chunk number."""
    piece = question.text.strip()
    if len(piece) < _SHORTEST:
        return []
    numbers = search.with_substring(tx, piece, question.within.params, limit=limit, most=_MOST_ROWS)
    if not numbers:
        return []
    known, found = question.within.evidence(numbers), hit_rows.details(tx, numbers)
    reasons = Reasons(rung=SearchMode.SUBSTRING)
    return [
        (number, to_hit(known[number], found[number], 1 / (place + 1), reasons)) for place, number in enumerate(numbers)
    ]
