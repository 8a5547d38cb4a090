"""Holds a lock that all hosts of a database see: a file for this host's processes, and a lease in the catalog.

A host that dies holds it no longer than the lease. The next process of the same host need not wait: it has the lock of
the file, so the one that took the lease is gone. The time is the database's, because the clocks of hosts differ.
"""

import secrets
import time
from contextlib import ExitStack, suppress
from datetime import timedelta
from types import TracebackType
from typing import Self

from recollectum.domain.errors import LockHeld, RecollectumError
from recollectum.domain.ids import Clock
from recollectum.home.locks import TIMEOUT, Lock, repeating
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import leases

#: How long a host that died holds a lock.
LEASE = timedelta(seconds=60)
_PAUSE = 0.2
_TOKEN_BYTES = 12


class SharedLock:
    """A lock of this host's processes; with a catalog that other hosts use too, of all of them. Not re-entrant."""

    def __init__(
        self,
        local: Lock,
        name: str,
        catalog: Database | None,
        clock: Clock,
        *,
        host: str | None = None,
        lease: timedelta = LEASE,
    ) -> None:
        self._local = local
        self._name = name
        self._catalog = catalog
        self._clock = clock
        self._lease = lease
        self._token = host or secrets.token_hex(_TOKEN_BYTES)
        self._held = ExitStack()

    @property
    def timeout(self) -> timedelta:
        """Return how long `acquire` waits."""
        return self._local.timeout

    def acquire(self) -> None:
        """Wait for the lock up to the timeout, then raise an error that says who has it."""
        self._local.acquire()
        if not self._has_lease(TIMEOUT):
            raise LockHeld(f"another host does the same work ({self._name}); wait for it to finish and try again")

    def wait(self, longest: timedelta) -> bool:
        """Try until the lock is acquired or the time has passed."""
        return self._local.wait(longest) and self._has_lease(longest)

    def release(self) -> None:
        """Release the lock; do nothing when it is not held."""
        self._held.close()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _has_lease(self, longest: timedelta) -> bool:
        """Take the lease, while this process has the lock of its host; without it, release that too."""
        with ExitStack() as held:
            held.callback(self._local.release)
            catalog = self._catalog
            if catalog:
                give_up = time.monotonic() + longest.total_seconds()
                while not catalog.claim(self._take):
                    if time.monotonic() >= give_up:
                        return False
                    time.sleep(_PAUSE)
                held.callback(self._give_back, catalog)
                held.enter_context(repeating(lambda: catalog.claim(self._renew), self._lease / 3))
            self._held = held.pop_all()
        return True

    def _take(self, tx: Tx) -> bool:
        now = tx.time(self._clock())
        return leases.take(tx, self._name, self._token, now, now + self._lease)

    def _renew(self, tx: Tx) -> None:
        leases.renew(tx, self._name, self._token, tx.time(self._clock()) + self._lease)

    def _give_back(self, catalog: Database) -> None:
        # A database that cannot be reached now: the lease runs out by itself.
        with suppress(RecollectumError, OSError):
            catalog.claim(lambda tx: leases.release(tx, self._name, self._token))
