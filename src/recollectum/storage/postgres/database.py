"""Implements the database port on PostgreSQL: transactions of one vault, or of the catalog."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TypeVar

import psycopg
from psycopg import pq

from recollectum.domain.errors import StorageError
from recollectum.storage.postgres.commits import StartedWrite, commit, text_of
from recollectum.storage.postgres.connections.connection import Connected, is_broken, send
from recollectum.storage.postgres.connections.pool import SharedPool
from recollectum.storage.postgres.failures import TRANSLATED, raise_translated
from recollectum.storage.postgres.scopes import DatabaseScope
from recollectum.storage.postgres.transaction import PostgresTx, TransactionContext, TransactionStart

T = TypeVar("T")


class PostgresDatabase:
    """One vault, or the catalog; see `storage.port.Database`."""

    def __init__(self, pool: SharedPool, scope: DatabaseScope, context: TransactionContext) -> None:
        self._pool = pool
        self._scope = scope
        self._context = context
        self._closed = False
        pool.hold()

    @property
    def held_bytes(self) -> int:
        """Return how many bytes the tokens of the vault take."""
        return self._context.held_bytes

    def read(self, work: Callable[[PostgresTx], T]) -> T:
        """Run `work` in one snapshot."""
        with self._transaction(self._scope.read) as (connection, begun):
            done = work(self._tx(connection, begun, writes=False))
            _end_read(connection)
            return done

    def write(self, work: Callable[[PostgresTx], T], *, frees: bool = False) -> T:  # noqa: ARG002 - there is no reserve
        """Run `work` in one durable transaction."""
        return self._write(self._scope.write, work)

    def _write(self, opening: bytes, work: Callable[[PostgresTx], T]) -> T:
        with self._transaction(opening) as (connection, begun):
            tx = self._tx(connection, begun, writes=True)
            done = work(tx)
            tx.flush()
            commit(connection, StartedWrite.read(begun, self._scope), self._pool)
            return done

    def claim(self, work: Callable[[PostgresTx], T]) -> T:
        """Run `work` in one durable transaction, in the catalog beside other writers."""
        return self._write(self._scope.claim, work)

    def erase_remains(self) -> bool:
        """Forget the tokens in memory; dead rows are the server's, and a receipt says until when they may stay."""
        self._check_open()
        self._context.forget_tokens()
        return True

    def close(self) -> None:
        """Close this database; the connections are closed with the last one."""
        if not self._closed:
            self._closed = True
            self._pool.let_go()

    def _tx(self, connection: Connected, begun: pq.abc.PGresult, *, writes: bool) -> PostgresTx:
        if not begun.ntuples:
            raise StorageError(f"{self._scope.place} no longer exists; it was deleted while it was open")
        changes, now = int(text_of(begun, 0)), int(text_of(begun, begun.nfields - 1))
        return PostgresTx(connection, self._context, TransactionStart(changes, now), writes=writes)

    @contextmanager
    def _transaction(self, opening: bytes) -> "Generator[tuple[Connected, pq.abc.PGresult]]":
        self._check_open()
        with self._pool.begun(opening) as (connection, begun):
            try:
                yield connection, begun
            except TRANSLATED as error:
                raise_translated(error, self._scope.place)
            finally:
                _end(connection)

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"{self._scope.place} was closed; open the home again")


def _end_read(connection: Connected) -> None:
    """Commit a read; when the connection is lost now, everything was read already."""
    try:
        send(connection, b"COMMIT")
    except psycopg.OperationalError:
        if not is_broken(connection):
            raise


def _end(connection: Connected) -> None:
    """Roll back what is left of a transaction."""
    if connection.pgconn.transaction_status != pq.TransactionStatus.IDLE and not is_broken(connection):
        with suppress(psycopg.Error):
            send(connection, b"ROLLBACK")
