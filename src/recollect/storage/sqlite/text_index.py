"""Full text in SQLite: an FTS5 table that keeps terms and no text."""

from collections.abc import Iterable
from typing import cast

import apsw

_ADD = "INSERT INTO search (rowid, terms) VALUES (?, ?)"
_REMOVE = "DELETE FROM search WHERE rowid = ?"


class SqliteTextIndex:
    """The `search` table of one connection; its row numbers are chunk numbers."""

    # FTS5's rank is negative and smaller is better; the score is its opposite.
    matching = "SELECT rowid AS number, -rank AS score FROM search WHERE search MATCH :expression"

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def add(self, entries: Iterable[tuple[int, str]]) -> None:
        """Index the terms of each numbered chunk."""
        for entry in entries:
            self._connection.execute(_ADD, entry)

    def remove(self, numbers: Iterable[int]) -> None:
        """Drop those chunks from the index."""
        for number in numbers:
            self._connection.execute(_REMOVE, (number,))

    def scrub(self) -> None:
        """Merge the index into one piece: deleted terms stay in it until then."""
        self._connection.execute("INSERT INTO search (search) VALUES ('optimize')").fetchall()

    def count(self) -> int:
        """How many chunks are indexed."""
        rows = cast(list[tuple[int]], self._connection.execute("SELECT count(*) FROM search").fetchall())
        return rows[0][0]
