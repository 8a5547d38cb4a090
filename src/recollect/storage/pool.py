"""A bounded number of open vaults: the one that was not used for longest is closed first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from recollect.storage.port import Database, Tx

T = TypeVar("T")


class VaultPool:
    """Opens vaults when they are used, and closes those that are not."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: OrderedDict[str, Database] = OrderedDict()
        self._users: dict[str, int] = {}
        self._lock = threading.Lock()

    @contextmanager
    def use(self, vault_id: str, opening: Callable[[], Database]) -> Generator[Database]:
        """The vault's database, kept open at least until the end of the block."""
        with self._lock:
            database = self._open.get(vault_id)
            if database is None:
                database = self._open[vault_id] = opening()
            self._open.move_to_end(vault_id)
            self._users[vault_id] = self._users.get(vault_id, 0) + 1
            self._close_idle()
        try:
            yield database
        finally:
            with self._lock:
                self._users[vault_id] -= 1

    def close(self) -> None:
        """Close every vault."""
        with self._lock:
            while self._open:
                _, database = self._open.popitem()
                database.close()

    def __len__(self) -> int:
        """How many vaults are open."""
        return len(self._open)

    def _close_idle(self) -> None:
        """Close the longest unused, but never one that somebody is using."""
        surplus = len(self._open) - self._most
        for vault_id in [one for one in self._open if not self._users.get(one)][: max(0, surplus)]:
            self._open.pop(vault_id).close()
            self._users.pop(vault_id, None)


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
