"""Implements the database port on PostgreSQL: transactions of one vault, or of the catalog."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TypeVar

import psycopg
from psycopg import pq

from recollectum.domain.errors import Moved, RecollectumError, StorageError, WrongKey
from recollectum.storage.postgres.commits import StartedWrite, commit, text_of
from recollectum.storage.postgres.connections.connection import Connected, is_broken, send
from recollectum.storage.postgres.connections.pool import SharedPool
from recollectum.storage.postgres.connections.replica import Replica
from recollectum.storage.postgres.connections.sending import is_ahead
from recollectum.storage.postgres.connections.traffic import Kind
from recollectum.storage.postgres.failures import TRANSLATED, raise_translated
from recollectum.storage.postgres.scopes import DatabaseScope
from recollectum.storage.postgres.sealing import values_under
from recollectum.storage.postgres.transaction import PostgresTx, TransactionContext, TransactionStart

T = TypeVar("T")
#: Asks for the present key of a vault.
RenewKey = Callable[[], bytes]
#: How often the key is asked for while one transaction is begun: somebody may change it again meanwhile.
_MOST_RENEWALS = 3
#: The places of marks of writes in what begins a read, and in what begins a write: see `DatabaseScope`.
_SEEN_MARK = 1
_OWN_MARK, _MARK_BEFORE = 3, 4


class _OtherKey(WrongKey, StorageError):
    """The rows of a vault are encrypted under another key than this process has; nothing was read or written."""


class PostgresDatabase:
    """One vault, or the catalog; see `storage.port.Database`."""

    def __init__(
        self,
        pool: SharedPool,
        scope: DatabaseScope,
        context: TransactionContext,
        renew: RenewKey | None = None,
        replica: Replica | None = None,
    ) -> None:
        self._pool = pool
        self._replica = replica
        #: The highest number of changes that was read or written here: a replica must have reached it.
        self._seen = 0
        self._noting = threading.Lock()
        self._scope = scope
        #: Replaced when the vault has a new key; transactions that have begun go on with theirs.
        self._context = context
        self._renew = renew
        self._renewing = threading.Lock()
        self._closed = False
        pool.hold()
        if replica:
            replica.join()

    @property
    def held_bytes(self) -> int:
        """Return how many bytes the tokens of the vault take."""
        return self._context.held_bytes

    def read(self, work: Callable[[PostgresTx], T], *, on_replica: bool = False) -> T:
        """Run `work` in one snapshot, of the replica if it may answer and has reached what was seen here."""
        if on_replica and self._replica and self._replica.may_answer():
            # It may be gone, stop a read that holds up its replay, or lack a row that the work needs.
            replica = self._transaction(self._scope.read, "replica", self._replica)
            with suppress(RecollectumError), replica as (connection, begun):
                if begun.ntuples and _changes(begun) >= self._seen:
                    return self._run(work, connection, begun, from_replica=True)
        return self._with_key(lambda: self._read(work))

    def _read(self, work: Callable[[PostgresTx], T]) -> T:
        with self._transaction(self._scope.read, "read", self._pool) as (connection, begun):
            return self._run(work, connection, begun)

    def _run(
        self,
        work: Callable[[PostgresTx], T],
        connection: Connected,
        begun: pq.abc.PGresult,
        *,
        from_replica: bool = False,
    ) -> T:
        tx = self._tx(connection, begun, writes=False, from_replica=from_replica)
        self._note_seen(_changes(begun))
        done = work(tx)
        _end_read(connection)
        if tx.kept.grew:
            self._context.keep(text_of(begun, _SEEN_MARK), tx.kept)
        return done

    def _note_seen(self, changes: int) -> None:
        if changes > self._seen:
            with self._noting:
                self._seen = max(self._seen, changes)

    def write(self, work: Callable[[PostgresTx], T], *, frees: bool = False) -> T:  # noqa: ARG002 - there is no reserve
        """Run `work` in one durable transaction."""
        return self._with_key(lambda: self._write(self._scope.write, work, "write"))

    def _write(self, opening: bytes, work: Callable[[PostgresTx], T], kind: Kind) -> T:
        with self._transaction(opening, kind, self._pool) as (connection, begun):
            tx = self._tx(connection, begun, writes=True)
            done = work(tx)
            rest = tx.rest()
            # Also when nobody knows whether it was stored.
            self._note_seen(_changes(begun))
            commit(connection, StartedWrite.read(begun, self._scope), self._pool, rest)
            self._context.keep(text_of(begun, _OWN_MARK), tx.kept)
            return done

    def claim(self, work: Callable[[PostgresTx], T]) -> T:
        """Run `work` in one durable transaction, in the catalog beside other writers."""
        return self._with_key(lambda: self._write(self._scope.claim, work, "claim"))

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
            if self._replica:
                self._replica.leave()

    def _with_key(self, run: Callable[[], T]) -> T:
        """Run a transaction; begin it again with the new key of the vault, if another process has changed it."""
        for _ in range(_MOST_RENEWALS):
            context = self._context
            try:
                return run()
            except _OtherKey:
                if not self._is_renewed(context):
                    raise
        return run()

    def _is_renewed(self, context: TransactionContext) -> bool:
        """Ask for the present key; return False if it is the one that a transaction was begun with."""
        with self._renewing:
            if self._context is context and self._renew:
                sealing = values_under(self._renew())
                if sealing.mark != context.sealing.mark:
                    self._context = context.under(sealing)
            return self._context is not context

    def _tx(
        self, connection: Connected, begun: pq.abc.PGresult, *, writes: bool, from_replica: bool = False
    ) -> PostgresTx:
        if not begun.ntuples:
            raise Moved(f"{self._scope.place} no longer exists; it was moved or deleted while it was open")
        if self._scope.refuses_moved and _changes(begun) < 0:
            raise Moved(f"the catalog is not in {self._scope.place} any more; it was moved")
        context = self._context
        stored, own = text_of(begun, begun.nfields - 1), context.sealing.mark
        if stored and own and stored != own:
            raise _OtherKey(
                f"{self._scope.place} is encrypted under another key than keys.db of this home has; use rows and keys "
                "of the same time: copy keys.db from the home that changed the key, or restore a later copy of the rows"
            )
        mark = text_of(begun, _MARK_BEFORE if writes else _SEEN_MARK)
        start = TransactionStart(_changes(begun), int(text_of(begun, begun.nfields - 2)), from_replica, mark)
        return PostgresTx(connection, context, start, writes=writes)

    @contextmanager
    def _transaction(
        self, opening: bytes, kind: Kind, server: SharedPool | Replica
    ) -> "Generator[tuple[Connected, pq.abc.PGresult]]":
        self._check_open()
        counted = self._pool.traffic.transaction(kind, self._scope.family)
        with counted, server.begun(opening) as (connection, begun):
            try:
                yield connection, begun
            except TRANSLATED as error:
                raise_translated(error, self._scope.place)
            finally:
                _end(connection)

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"{self._scope.place} was closed; open the home again")


def _changes(begun: pq.abc.PGresult) -> int:
    """Return the number of changes that a transaction sees, its own among them if it writes."""
    return int(text_of(begun, 0))


def _end_read(connection: Connected) -> None:
    """Commit a read; when the connection is lost now, everything was read already."""
    try:
        send(connection, b"COMMIT")
    except psycopg.OperationalError:
        if not is_broken(connection):
            raise


def _end(connection: Connected) -> None:
    """Roll back what is left of a transaction."""
    if is_ahead(connection):
        # The work failed while the server was busy with what was sent ahead; it rolls back when the connection ends.
        connection.close()
    elif connection.pgconn.transaction_status != pq.TransactionStatus.IDLE and not is_broken(connection):
        with suppress(psycopg.Error):
            send(connection, b"ROLLBACK")
