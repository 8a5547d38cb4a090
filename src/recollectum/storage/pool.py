"""Keeps a bounded number of vaults open and closes the least recently used one first (LRU)."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from recollectum.domain.errors import StorageError
from recollectum.storage.port import Database, Tx

T = TypeVar("T")


@dataclass(slots=True)
class _Entry:
    """One vault: its database once it is open, and how many use it now."""

    database: Database | None = None
    users: int = 0
    opening: threading.Lock = field(default_factory=threading.Lock)


class VaultPool:
    """Opens vaults when they are used, and closes those that are not."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def use(self, vault_id: str, opening: Callable[[], Database]) -> Generator[Database]:
        """The vault's database, kept open at least until the end of the block."""
        entry = self._enter(vault_id)
        try:
            yield entry.database or self._open(entry, opening)
        finally:
            with self._lock:
                entry.users -= 1

    def discard(self, vault_id: str) -> None:
        """Close one vault, once those who use it now are done."""
        with self._lock:
            entry = self._entries.pop(vault_id, None)
        if entry and entry.database:
            entry.database.close()

    def close(self) -> None:
        """Close every vault, for good."""
        with self._lock:
            self._closed = True
            entries = list(self._entries.values())
            self._entries.clear()
        for entry in entries:
            if entry.database:
                entry.database.close()

    def __len__(self) -> int:
        """How many vaults are open."""
        return sum(1 for entry in self._entries.values() if entry.database)

    def _enter(self, vault_id: str) -> _Entry:
        with self._lock:
            if self._closed:
                raise StorageError("this home was closed; open it again")
            entry = self._entries.setdefault(vault_id, _Entry())
            self._entries.move_to_end(vault_id)
            entry.users += 1
            self._close_idle()
            return entry

    def _open(self, entry: _Entry, opening: Callable[[], Database]) -> Database:
        # A lock of its own: a vault that takes long to open, for a migration, must not keep others waiting.
        with entry.opening:
            if entry.database is None:
                entry.database = opening()
            return entry.database

    def _close_idle(self) -> None:
        """Close the longest unused, but never one that somebody is using."""
        surplus = len(self._entries) - self._most
        idle = [vault_id for vault_id, entry in self._entries.items() if entry.users == 0]
        for vault_id in idle[: max(0, surplus)]:
            database = self._entries.pop(vault_id).database
            if database:
                database.close()


class PooledDatabase:
    """One vault of the pool; see `storage.port.Database`. It opens again by itself after it was closed as idle."""

    def __init__(self, pool: VaultPool, vault_id: str, opening: Callable[[], Database]) -> None:
        self._pool = pool
        self._vault_id = vault_id
        self._opening = opening

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one snapshot."""
        with self._pool.use(self._vault_id, self._opening) as database:
            return database.read(work)

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction."""
        with self._pool.use(self._vault_id, self._opening) as database:
            return database.write(work, frees=frees)

    def erase_remains(self) -> bool:
        """Overwrite what deleted rows left behind."""
        with self._pool.use(self._vault_id, self._opening) as database:
            return database.erase_remains()

    def close(self) -> None:
        """Nothing: the pool closes what it opened."""
