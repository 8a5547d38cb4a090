"""Implements the database port on PostgreSQL: transactions of one vault, or of the catalog."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import pq

from recollectum.domain.errors import RecollectumError, StorageError
from recollectum.storage.postgres.connections.connection import Connected, is_broken, send
from recollectum.storage.postgres.connections.pool import SharedPool
from recollectum.storage.postgres.failures import TRANSLATED, raise_translated
from recollectum.storage.postgres.scopes import DatabaseScope
from recollectum.storage.postgres.transaction import PostgresTx, TransactionContext, TransactionStart

T = TypeVar("T")
_STATUS = "SELECT pg_xact_status(CAST(%s AS xid8))"
#: A server that lost the connection may still be writing; it is asked again for so long.
_WAIT_SECONDS = 30.0
_PAUSE_SECONDS = 0.1


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
            send(connection, b"COMMIT")
            return done

    def write(self, work: Callable[[PostgresTx], T], *, frees: bool = False) -> T:  # noqa: ARG002 - there is no reserve
        """Run `work` in one durable transaction."""
        return self._write(self._scope.write, work)

    def _write(self, opening: bytes, work: Callable[[PostgresTx], T]) -> T:
        with self._transaction(opening) as (connection, begun):
            tx = self._tx(connection, begun, writes=True)
            done = work(tx)
            tx.flush()
            self._commit(connection, _text(begun, 1))
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
        changes, now = int(_text(begun, 0)), int(_text(begun, begun.nfields - 1))
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

    def _commit(self, connection: Connected, transaction: str) -> None:
        try:
            answer = send(connection, b"COMMIT")
        except psycopg.OperationalError:
            if not is_broken(connection):
                raise
            if _was_committed(self._pool, transaction):
                return
            raise StorageError(
                f"the connection to {self._pool.place} was lost; nothing was written; try again"
            ) from None
        if answer.command_status != b"COMMIT":
            # A statement failed and somebody went on: PostgreSQL rolls back and calls it a success.
            raise StorageError(f"a statement failed in {self._scope.place}; nothing was written")

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"{self._scope.place} was closed; open the home again")


def _end(connection: Connected) -> None:
    """Roll back what is left of a transaction."""
    if connection.pgconn.transaction_status != pq.TransactionStatus.IDLE and not is_broken(connection):
        with suppress(psycopg.Error):
            send(connection, b"ROLLBACK")


def _text(answer: pq.abc.PGresult, column: int) -> str:
    value: Any = answer.get_value(0, column)
    return bytes(value or b"").decode()


def _was_committed(pool: SharedPool, transaction: str) -> bool:
    """Return whether a transaction was committed; raise when that cannot be found out."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        found = _status(pool, transaction)
        if found in ("committed", "aborted"):
            return found == "committed"
        if time.monotonic() >= deadline:
            raise StorageError(
                f"the connection to {pool.place} was lost while a change was stored, and the server does not say "
                "whether it is stored; look whether it is there before you try again"
            )
        time.sleep(_PAUSE_SECONDS)


def _status(pool: SharedPool, transaction: str) -> str | None:
    """Return what the server says of a transaction; None while it says nothing or is away."""
    try:
        connection = pool.direct()
    except RecollectumError:
        return None
    try:
        rows = connection.execute(_STATUS, (transaction,), prepare=False).fetchall()
    except psycopg.Error:
        return None
    finally:
        connection.close()
    return str(rows[0][0]) if rows else None
