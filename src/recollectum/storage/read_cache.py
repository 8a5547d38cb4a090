"""Caches what was read from a database until any process writes to it."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from recollectum.storage.port import Database, Tx

T = TypeVar("T")
#: Beyond this many answers the cache is emptied: answers of earlier states are never used again.
_MOST = 4096
_NOTHING: Any = object()


class ReadCache:
    """A cache of reads of one database. Safe to use from several threads: at worst a value is read twice."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: dict[Hashable, Any] = {}

    def read(self, question: Hashable, load: Callable[[Tx], T]) -> T:
        """Return the result of `load`, from the cache if the database has not changed since."""

        def look(tx: Tx) -> T:
            asked = (question, tx.state)
            found = self._kept.get(asked, _NOTHING)
            if found is _NOTHING:
                found = load(tx)
                if len(self._kept) >= _MOST:
                    self._kept.clear()
                self._kept[asked] = found
            return found

        return self._database.read(look)
