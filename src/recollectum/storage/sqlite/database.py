"""Implements the database port on one SQLite file: one writer, several readers, and secure deletion."""

import threading
from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar, cast

import apsw

from recollectum.domain.errors import DiskFull, Moved, StorageError
from recollectum.domain.records import dataclass
from recollectum.storage.port import Params, Row, Tx
from recollectum.storage.sqlite.connection import connect, reading_once
from recollectum.storage.sqlite.dialect import to_sqlite
from recollectum.storage.sqlite.failures import TRANSLATED, raise_translated, translated
from recollectum.storage.sqlite.full_text.document_lengths import DocumentLengths
from recollectum.storage.sqlite.full_text.posting_reader import create_vocabulary, has_text_index
from recollectum.storage.sqlite.full_text.text_index import SqliteTextIndex
from recollectum.storage.sqlite.group_commit import GroupCommitWriter
from recollectum.storage.sqlite.moved_mark import MovedCheck
from recollectum.storage.sqlite.seal_triggers import install_triggers
from recollectum.storage.tables.parameters import check_params

T = TypeVar("T")

#: The page cache holds at least one page in this many of a large file: what ranking rereads grows with the file.
_KEPT = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteOptions:
    """The options for opening a database."""

    key: bytes | None = None
    cache_kib: int = 8192
    busy_timeout: timedelta = timedelta(seconds=10)
    readers: int = 4
    #: Another VFS below SQLite; tests use one that simulates a power cut.
    vfs: str | None = None
    #: Called when the disk is full and the work would free space; returns True when it made some room.
    make_room: Callable[[], bool] | None = None
    #: Whether it is a vault or a catalog in its place, which may be moved to a database while it is open.
    is_movable: bool = False


class _NoStandIns:
    """Leaves every text as it is: the whole file is encrypted."""

    def hide(self, text: str) -> str:
        """Return the text itself."""
        return text

    def show(self, hidden: str) -> str:
        """Return the text itself."""
        return hidden


class SqliteTx:
    """A transaction on one connection."""

    #: A vault is encrypted page by page, below the statements.
    reads_texts = True
    has_seals = True
    from_replica = False
    #: So few that they take little memory beside what they become, and stay in the processor's cache.
    page_rows = 512
    stand_ins = _NoStandIns()

    def __init__(self, connection: apsw.Connection, lengths: DocumentLengths | None = None) -> None:
        self._connection = connection
        self._lengths = lengths
        self._text: SqliteTextIndex | None = None

    @property
    def text(self) -> SqliteTextIndex:
        """Return the full-text index; made when it is needed, because most transactions use none."""
        if self._text is None:
            self._text = SqliteTextIndex(self._connection, self._lengths or DocumentLengths())
        return self._text

    @property
    def state(self) -> Hashable:
        """Return SQLite's count of the commits it has seen; it is comparable on this connection only."""
        if self._connection.txn_state("main") == apsw.SQLITE_TXN_NONE:
            # BEGIN alone takes no snapshot, and without one the count is that of the last.
            self._connection.pragma("data_version")
        return self._connection, self._connection.data_version("main")

    def time(self, here: datetime) -> datetime:
        """Return the given time: all processes that use a file are on one machine."""
        return here

    def rows(self, sql: str, params: Params) -> list[Row]:
        """Run a statement, and return its rows."""
        check_params(params)
        return self._connection.execute(to_sqlite(sql), params).fetchall()

    def kept_rows(self, table: str, sql: str, params: Params) -> list[Row]:  # noqa: ARG002 - nobody else is asked
        """Run a statement, and return its rows: the pages of a small table are in memory."""
        return self.rows(sql, params)

    def run(self, sql: str, params: Params) -> int:
        """Run a statement, and return the number of changed rows."""
        check_params(params)
        self._connection.execute(to_sqlite(sql), params)
        return self._connection.changes()

    def add_rows(self, sql: str, rows: Sequence[Params]) -> list[Row]:
        """Run an INSERT of one row for each of the rows."""
        return self._connection.executemany(to_sqlite(sql), rows).fetchall()

    @contextmanager
    def reading_once(self) -> Generator[None]:
        """Shrink the page cache while this is open."""
        with reading_once(self._connection):
            yield


class SqliteDatabase:
    """One file; see `storage.port.Database`."""

    def __init__(self, path: Path, options: SqliteOptions) -> None:
        self.path = path
        self._options = options
        self._lengths = DocumentLengths()
        connection = self._connect(query_only=False)
        try:
            self._watch(connection, anew=False)
        except BaseException:
            connection.close(True)
            raise
        self._moved = MovedCheck(path) if options.is_movable else None
        self._file = path.stat().st_ino
        self._writer = GroupCommitWriter(connection, SqliteTx(connection, self._lengths), self._moved)
        self._idle: list[apsw.Connection] = []
        self._slots = threading.BoundedSemaphore(options.readers)
        self._closed = False

    @property
    def held_bytes(self) -> int:
        """Return how many bytes the lengths of the chunks take."""
        return self._lengths.held_bytes

    def read(self, work: Callable[[Tx], T], *, on_replica: bool = False) -> T:  # noqa: ARG002 - a file has none
        """Run `work` in one snapshot."""
        with self._slots:
            # Check after the wait: the database may have been closed in the meantime.
            self._check_open()
            connection = self._take_idle() or self._connect(query_only=True)
            try:
                connection.execute("BEGIN")
                done = work(SqliteTx(connection, self._lengths))
                if self._moved:
                    # After the work, because BEGIN alone takes no snapshot.
                    self._moved.check(connection)
                return done
            except TRANSLATED as error:
                # Not `translated`, which costs six calls: this runs for every read.
                raise_translated(error, self.path, encrypted=self._options.key is not None)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._idle.append(connection)

    def _take_idle(self) -> apsw.Connection | None:
        try:
            return self._idle.pop()
        except IndexError:
            # Pop without checking first: another thread could take the last one between the check and the pop.
            return None

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction."""
        self._check_open()
        try:
            return self._attempt(work)
        except DiskFull:
            if not (frees and self._makes_room()):
                raise
        return self._attempt(work)

    def _makes_room(self) -> bool:
        make_room = self._options.make_room
        return make_room is not None and make_room()

    def _checkpoint_or_wait(self) -> bool:
        try:
            return self.on_connection(checkpoint)
        except DiskFull:
            return False

    def _attempt(self, work: Callable[[Tx], T]) -> T:
        with translated(self.path, encrypted=self._options.key is not None):
            return cast(T, self._writer.run(work))

    def seal_writes(self, *, anew: bool) -> None:
        """Start to seal written rows, now that the table exists; do nothing if the file is encrypted."""
        self.on_connection(lambda connection: self._watch(connection, anew=anew))

    def _watch(self, connection: apsw.Connection, *, anew: bool) -> None:
        if self._options.key is None:
            with translated(self.path, encrypted=False):
                install_triggers(connection, anew=anew)

    def on_connection(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run `work` on the writing connection outside a transaction: migrations, checks, checkpoints."""
        self._check_open()
        with translated(self.path, encrypted=self._options.key is not None):
            return cast(T, self._writer.exclusive(work))

    def claim(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one durable transaction, like any other: there is one writer at a time."""
        return self.write(work)

    def erase_remains(self) -> bool:
        """Scrub the index, then empty the write-ahead log; return False while a reader holds an old snapshot."""
        if self.on_connection(has_text_index):
            self.write(lambda tx: tx.text.scrub(), frees=True)
        try:
            return self.on_connection(checkpoint)
        except DiskFull:
            # The rows are deleted; only their remains in the log have to wait for free space.
            return self._makes_room() and self._checkpoint_or_wait()

    def close(self) -> None:
        """Close every connection; calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        for _ in range(self._options.readers):
            self._slots.acquire()
        for connection in self._idle:
            connection.close()
        self._idle.clear()
        # Wake the threads that wait for a slot, so that they find the database closed.
        for _ in range(self._options.readers):
            self._slots.release()
        self._writer.exclusive(apsw.Connection.close)

    def _connect(self, *, query_only: bool) -> apsw.Connection:
        options = self._options
        size = self._size() if query_only else 0
        connection = connect(
            self.path,
            key=options.key,
            cache_kib=max(options.cache_kib, size // (1024 * _KEPT)),
            busy_timeout=options.busy_timeout,
            vfs=options.vfs,
        )
        try:
            with translated(self.path, encrypted=options.key is not None):
                create_vocabulary(connection)
                if query_only:
                    connection.pragma("query_only", "on")
        except BaseException:
            connection.close(True)
            raise
        return connection

    def _size(self) -> int:
        """Return the size of the file; raise when the writing connection has another one open."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            found = None
        if found is None or found.st_ino != self._file:
            raise Moved(f"{self.path} was moved or replaced while it was open; open the home again")
        return found.st_size

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"{self.path} was closed; open the home again")


def checkpoint(connection: apsw.Connection) -> bool:
    """Move the log into the file and truncate it; return False when a reader holds it."""
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
    return not busy
