"""Asks a replica, a hot standby of the database, for reads that may lack the last writes of other processes.

A replica that does not answer is left alone for a while: the primary answers then, and one reader now and then tries.
"""

import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from threading import Lock

from psycopg import pq

from recollectum.domain.errors import RecollectumError
from recollectum.storage.postgres.connections.connection import Connected
from recollectum.storage.postgres.connections.pool import SharedPool

#: Seconds until a replica that did not answer is asked again.
PAUSE = 30.0
#: Seconds that a reader waits for a connection to a replica: the primary would answer at once.
PATIENCE = 2


class Replica:
    """The connections of one process to one replica, which are made when the first read wants one."""

    def __init__(self, pool: SharedPool, now: Callable[[], float] = time.monotonic) -> None:
        self.address = pool.address
        self._pool = pool
        self._now = now
        self._lock = Lock()
        self._users = 0
        self._is_held = False
        #: When it may be asked again; None while it answers.
        self._asked_at: float | None = 0.0

    def join(self) -> None:
        """Count one more database that may read here; nothing is opened yet."""
        with self._lock:
            self._users += 1

    def leave(self) -> None:
        """Close the connections with the last database that may read here."""
        with self._lock:
            self._users -= 1
            closes = self._is_held and not self._users
            if closes:
                self._is_held, self._asked_at = False, 0.0
        if closes:
            self._pool.let_go()

    def may_answer(self) -> bool:
        """Return whether to ask it now; while it is away, one reader tries again after a while."""
        with self._lock:
            asked_at = self._asked_at
            if asked_at is not None and self._now() < asked_at:
                return False
            if asked_at is not None:
                # Until this reader has an answer, all others go to the primary.
                self._asked_at = self._now() + PAUSE
            return True

    @contextmanager
    def begun(self, opening: bytes) -> Generator[tuple[Connected, pq.abc.PGresult]]:
        """Begin a transaction that reads, if it may answer; raise when it cannot be reached."""
        with ExitStack() as stack:
            try:
                if not self._is_held:
                    self._pool.hold()
                    self._is_held = True
                began = stack.enter_context(self._pool.begun(opening))
            except RecollectumError:
                self._asked_at = self._now() + PAUSE
                raise
            self._asked_at = None
            yield began
