"""Keeps the connections of one process, which the catalog and all vaults share.

The pool is opened with the first database and closed with the last one. A first connection is made outside of it: the
pool tries again in the background, so that a wrong password would show as a timeout.
"""

import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import psycopg
from psycopg import pq
from psycopg_pool import ConnectionPool, PoolTimeout

from recollectum.domain.errors import SchemaNewer, StorageError
from recollectum.domain.records import dataclass
from recollectum.domain.telemetry.figure import Figure
from recollectum.storage.postgres.connections.address import DatabaseAddress
from recollectum.storage.postgres.connections.connection import (
    Connected,
    PoolerFull,
    configure,
    connection_options,
    is_broken,
    send,
)
from recollectum.storage.postgres.connections.schema_watch import SchemaWatch
from recollectum.storage.postgres.connections.traffic import Traffic
from recollectum.storage.postgres.failures import raise_translated, unreachable

# What the pool logs is told by errors too; a program that sets up no logging does not print it.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
#: What another connection would say too.
_FINAL = (PoolerFull, psycopg.errors.ReadOnlySqlTransaction)
#: Seconds until an idle connection is closed.
_MAX_IDLE = 300
#: Seconds between two attempts to connect while a server is away.
_STEP = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """How many connections there may be, and how long one waits."""

    most: int
    prepares: bool
    #: Seconds to wait for a free connection, and for another writer.
    wait_seconds: float
    #: Milliseconds that one statement may take; 0 is no limit.
    statement_ms: int


class SharedPool:
    """The connections of one process to one database."""

    def __init__(
        self,
        address: DatabaseAddress,
        options: PoolOptions,
        check: Callable[[Connected, str], None],
        watch: SchemaWatch,
    ) -> None:
        self.place = address.words
        self.options = options
        self.watch = watch
        self.traffic = Traffic()
        self.address = address
        self._check = check
        self._pool: ConnectionPool[Connected] | None = None
        self._holders = 0
        self._checked = False
        self._lock = Lock()

    def hold(self) -> None:
        """Open the pool for one more database; the first connection is checked."""
        with self._lock:
            if self._pool is None:
                self._pool = self._opened()
            self._holders += 1

    def let_go(self) -> None:
        """Close the pool if nobody else holds it."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0 and self._pool is not None:
                self.traffic.keep(self._pool.get_stats())
                self._pool.close()
                self._pool = None

    def figures(self) -> list[Figure]:
        """Return the numbers of the connections and of what went over them."""
        pool = self._pool
        return self.traffic.figures(pool.get_stats() if pool else {}, self.options.most)

    @contextmanager
    def begun(self, opening: bytes) -> Generator[tuple[Connected, pq.abc.PGresult]]:
        """Take a connection and send the constants that begin a transaction; put it back when the block ends.

        A connection that was lost while it was idle is replaced: nothing was sent on it.
        """
        connection, answer = self._begin(opening)
        try:
            yield connection, answer
        finally:
            self._put(connection)

    @contextmanager
    def taken(self) -> Generator[Connected]:
        """Take a connection outside of any transaction."""
        with self.begun(b"") as (connection, _):
            yield connection

    def direct(self) -> Connected:
        """Return a new connection outside of the pool."""
        try:
            connection = psycopg.connect(**connection_options(self.address, prepares=self.options.prepares))
        except psycopg.Error as error:
            raise unreachable(error, self.place) from None
        configure(connection)
        return connection

    def _begin(self, opening: bytes) -> tuple[Connected, pq.abc.PGresult]:
        for left in reversed(range(self.options.most + 1)):
            connection = self._take()
            try:
                self.watch.look(connection)
                return connection, send(connection, opening)
            except SchemaNewer:
                self._put(connection)
                raise
            except psycopg.Error as error:
                if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
                    # It would refuse writes also after the server accepts them again: the next one is new.
                    connection.close()
                self._put(connection)
                if not left or isinstance(error, _FINAL) or not is_broken(connection):
                    raise_translated(error, self.place)
        raise AssertionError("the last attempt returns or raises")

    def _take(self) -> Connected:
        pool = self._pool
        if pool is None:
            raise StorageError(f"{self.place} was closed; open the home again")
        end = time.monotonic() + self.options.wait_seconds
        while True:
            # A pool that may grow failed to connect: asking again lets it try at once.
            grows = pool.get_stats()["pool_size"] < self.options.most
            left = max(end - time.monotonic(), _STEP / 10)
            try:
                return pool.getconn(timeout=min(left, _STEP) if grows else left)
            except PoolTimeout as error:
                if time.monotonic() >= end:
                    # Either all connections are in use, or none can be made: a new one tells which.
                    self.direct().close()
                    raise_translated(error, self.place)

    def _put(self, connection: Connected) -> None:
        pool = self._pool
        if pool is None:
            connection.close()
        else:
            pool.putconn(connection)

    def _opened(self) -> "ConnectionPool[Connected]":
        if not self._checked:
            first = self.direct()
            try:
                self._check(first, self.place)
            finally:
                first.close()
            self._checked = True
        kwargs: dict[str, Any] = connection_options(self.address, prepares=self.options.prepares)
        return ConnectionPool(
            kwargs=kwargs,
            configure=configure,
            min_size=0,
            max_size=self.options.most,
            max_idle=_MAX_IDLE,
            timeout=self.options.wait_seconds,
            # One attempt: a pool that tries again by itself waits longer each time, also when the server is back.
            reconnect_timeout=0,
            num_workers=1,
            open=True,
        )
