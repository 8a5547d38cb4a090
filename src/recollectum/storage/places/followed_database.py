"""Follows a vault, or the catalog, to its new place when it is moved while it is open."""

import threading
from collections.abc import Callable
from typing import TypeVar

from recollectum.domain.errors import Busy, Moved
from recollectum.storage.port import Database, Tx

T = TypeVar("T")
#: How often one transaction follows; a vault is not moved that often.
_MOST = 5


class FollowedDatabase:
    """An open vault or catalog; see `storage.port.Database`. A transaction that a move refuses runs in the new place.

    The numbers, ids and vectors are the same there, so what this process keeps in memory of it stays right.
    """

    def __init__(self, database: Database, reopen: Callable[[], Database]) -> None:
        self._database = database
        self._reopen = reopen
        self._lock = threading.Lock()
        self._closing: list[threading.Thread] = []

    @property
    def held_bytes(self) -> int:
        """Return how many bytes this process keeps in memory for the index."""
        return self._database.held_bytes

    def read(self, work: Callable[[Tx], T], *, on_replica: bool = False) -> T:
        """Run `work` in one snapshot, which may be a replica's."""
        database = self._database
        try:
            return database.read(work, on_replica=on_replica)
        except Moved:
            return self._again(database, lambda found: found.read(work))

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction."""
        database = self._database
        try:
            return database.write(work, frees=frees)
        except Moved:
            return self._again(database, lambda found: found.write(work, frees=frees))

    def claim(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one durable transaction, in a catalog on a server beside other writers."""
        database = self._database
        try:
            return database.claim(work)
        except Moved:
            return self._again(database, lambda found: found.claim(work))

    def erase_remains(self) -> bool:
        """Overwrite the remains of deleted rows."""
        database = self._database
        try:
            return database.erase_remains()
        except Moved:
            return self._again(database, lambda found: found.erase_remains())

    def close(self) -> None:
        """Close every connection; calling it again does nothing."""
        for thread in self._closing:
            thread.join()
        self._database.close()

    def _again(self, left: Database, work: Callable[[Database], T]) -> T:
        for _ in range(_MOST):
            left = self._follow(left)
            try:
                return work(left)
            except Moved:
                continue
        raise Busy("it is moved again and again; try again when that is done")

    def _follow(self, left: Database) -> Database:
        """Return the database of the new place, which one thread opens for all."""
        with self._lock:
            if self._database is left:
                self._database = self._reopen()
                # In a thread: closing waits for the reads that run, and one of them may be the caller's.
                closing = threading.Thread(target=left.close, name="close moved vault", daemon=True)
                closing.start()
                self._closing.append(closing)
            return self._database
