"""Full text in SQLite: an FTS5 table that keeps terms and no text."""

from collections.abc import Iterable, Sequence
from typing import cast

import apsw

from recollect.text.narrowing import BUDGET, SMALL, any_of, narrowed

_ADD = "INSERT INTO search (rowid, terms) VALUES (?, ?)"
_REMOVE = "DELETE FROM search WHERE rowid = ?"
_HIGHEST = "SELECT max(rowid) FROM search"
#: So many matches say how frequent a phrase is; counting all of them would take as long as they are many.
_SAMPLE = 200
_SAMPLED = "SELECT count(*), max(number) FROM (SELECT rowid AS number FROM search WHERE search MATCH ? LIMIT ?)"
# Sorting by the score here is quicker than by FTS5's own `ORDER BY rank`. Of too many, the newest are ranked, which
# FTS5 finds first.
_BEST = """
    SELECT number, score
      FROM (SELECT rowid AS number, -rank AS score FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
     ORDER BY score DESC, number DESC LIMIT ?
"""
_NO_LIMIT = -1
#: In a large index, further down the list scores are no longer those of an exact ranking.
_LARGE_LIMIT = 200
#: With fewer than this, matches of one frequent phrase are better than none.
_ENOUGH = 50


class SqliteTextIndex:
    """The `search` table of one connection; its row numbers are chunk numbers."""

    # FTS5's rank is negative and smaller is better; the score is its opposite.
    matching = "SELECT rowid AS number, -rank AS score FROM search WHERE search MATCH :expression"

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def add(self, entries: Iterable[tuple[int, str]]) -> None:
        """Index the terms of each numbered chunk."""
        self._connection.executemany(_ADD, entries)

    def remove(self, numbers: Iterable[int]) -> None:
        """Drop those chunks from the index."""
        for number in numbers:
            self._connection.execute(_REMOVE, (number,))

    def narrow(self, phrases: Sequence[str]) -> Sequence[str]:
        """Expressions that together find the best matches: in a large index a frequent phrase only beside another."""
        return self._narrowed(phrases, self._highest())

    def best(self, phrases: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """The numbers and scores of the best matches of any phrase, best first."""
        highest = self._highest()
        large = highest > SMALL
        most = 2 * BUDGET if large else _NO_LIMIT
        limit = min(limit, _LARGE_LIMIT) if large else limit
        found: dict[int, float] = {}
        for expression in self._narrowed(phrases, highest):
            _merge(found, self._ranked(expression, most, limit))
        if large and phrases and len(found) < min(limit, _ENOUGH):
            _merge(found, self._ranked(any_of(phrases), most, limit))
        return sorted(found.items(), key=lambda one: (-one[1], -one[0]))[:limit]

    def scrub(self) -> None:
        """Merge the index into one piece: deleted terms stay in it until then."""
        self._connection.execute("INSERT INTO search (search) VALUES ('optimize')").fetchall()

    def count(self) -> int:
        """How many chunks are indexed."""
        rows = cast(list[tuple[int]], self._connection.execute("SELECT count(*) FROM search").fetchall())
        return rows[0][0]

    def _narrowed(self, phrases: Sequence[str], highest: int) -> Sequence[str]:
        if highest <= SMALL:
            return (any_of(phrases),) if phrases else ()
        return narrowed({phrase: self._frequency(phrase, highest) for phrase in phrases}, highest)

    def _highest(self) -> int:
        rows = cast(list[tuple[int | None]], self._connection.execute(_HIGHEST).fetchall())
        return rows[0][0] or 0

    def _frequency(self, phrase: str, highest: int) -> int:
        """About how many chunks have a phrase, by how soon enough of them are met."""
        rows = cast(list[tuple[int, int]], self._connection.execute(_SAMPLED, (phrase, _SAMPLE)).fetchall())
        count, reached = rows[0]
        return count if count < _SAMPLE else count * highest // reached

    def _ranked(self, expression: str, most: int, limit: int) -> list[tuple[int, float]]:
        rows = self._connection.execute(_BEST, (expression, most, limit)).fetchall()
        return cast(list[tuple[int, float]], rows)


def _merge(found: dict[int, float], more: Iterable[tuple[int, float]]) -> None:
    """Add what was found by another expression; the best score of a chunk is the one by most of its phrases."""
    if not found:
        found.update(more)
        return
    for number, score in more:
        found[number] = max(score, found.get(number, score))
