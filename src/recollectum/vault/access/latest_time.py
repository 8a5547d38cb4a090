"""Keeps the time of a home, which never goes back: the latest time that any of its processes has seen.

What ends at a time, such as the grace period of a key, must not begin again because somebody set the clock back.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from recollectum.domain.errors import HomeError, StorageError
from recollectum.domain.ids import Clock, SteadyClock
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import latest_time

#: How far the stored time may lag behind: one write a minute is enough.
_LAG = timedelta(minutes=1)


class LatestTime:
    """The latest time that the home has seen: a clock that is stored in the catalog."""

    def __init__(self, catalog: Database, wall: Clock) -> None:
        self._catalog = catalog
        self._steady = SteadyClock(wall)
        #: What this process knows to be stored.
        self._stored: datetime | None = None
        self._storing = threading.Lock()

    def __call__(self) -> datetime:
        """Return the latest time that this process or another one has seen, and note it."""
        stored = self._catalog.read(latest_time.find)
        if stored is not None:
            self._steady.advance(stored)
            self._stored = stored
        return self.note()

    def note(self) -> datetime:
        """Store the time of this process when the stored one lags too far behind; return it."""
        now = self._steady()
        # One thread stores it; the others go on.
        if (self._stored is None or now - self._stored >= _LAG) and self._storing.acquire(blocking=False):
            try:
                self.store(lambda _: None)
            finally:
                self._storing.release()
        return now

    def store(self, change: Callable[[Tx], None]) -> None:
        """Store the time, together with a change that it brings."""
        now = self._steady()

        def write(tx: Tx) -> None:
            latest_time.advance(tx, now)
            change(tx)

        # A disk that takes no writes must not prevent reading; this process goes on with the time it has seen.
        with suppress(StorageError, HomeError, OSError):
            self._catalog.write(write)
        # Also when that failed: one attempt a minute is enough.
        self._stored = now
