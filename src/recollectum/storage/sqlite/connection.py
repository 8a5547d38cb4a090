"""Opens SQLite connections, and tells whether another process has the file open."""

import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from weakref import WeakKeyDictionary

import apsw

from recollectum.domain.errors import Busy, StorageError
from recollectum.home.files import create_private
from recollectum.storage.sqlite.failures import translated
from recollectum.storage.sqlite.seal_triggers import register_functions

#: With an older version, writes from two connections could corrupt a WAL database.
_FLOOR = (3, 51, 3)
_BUSY_TIMEOUT = timedelta(seconds=10)
#: Of a new file; one that exists keeps its own. An empty vault has a page for each of its many tables and indexes.
PAGE_BYTES = 2048
#: The page cache while a whole table is read once, in KiB.
_READ_ONCE_KIB = 256
#: What a log's index adds to the name of its database.
LOG_INDEX = "-shm"
#: The byte of the index that a process locks while it has the database open (SQLite's "dead man switch").
_OPEN_BYTE = 128
#: The fields of a record lock, in the order and with the sizes of the system's `struct flock`.
_LOCK_OF_LINUX = {"type": "h", "whence": "h", "start": "q", "length": "q", "process": "i4x"}
_LOCK_OF_MACOS = {"start": "q", "length": "q", "process": "i", "type": "h", "whence": "h"}
#: Held while a connection is made, and while a file is read that a connection may lock.
_CREATING = threading.Lock()
#: The real path of each connection: a connection that is busy in another thread does not tell its own.
_PATHS: "WeakKeyDictionary[apsw.Connection, str]" = WeakKeyDictionary()


def connect(
    path: Path,
    *,
    key: bytes | None = None,
    cache_kib: int = 2048,
    busy_timeout: timedelta = _BUSY_TIMEOUT,
    vfs: str | None = None,
    page_bytes: int = PAGE_BYTES,
) -> apsw.Connection:
    """Return a connection to the file at `path`, which is private to this account; with a key, it is encrypted."""
    check_version(apsw.sqlite_lib_version())
    # SQLite would create the file readable by others; -wal and -shm take the mode of the file.
    create_private(path)
    with translated(path, encrypted=key is not None):
        with _CREATING:
            connection = apsw.Connection(str(path), vfs=_vfs(vfs, key))
            _PATHS[connection] = os.path.realpath(path)
        try:
            if key is not None:
                _encrypt(connection, key)
            if path.stat().st_size == 0:
                connection.pragma("page_size", page_bytes)
            _configure(connection, cache_kib, busy_timeout)
        except BaseException:
            connection.close(True)
            raise
    return connection


def read_log_index(path: Path, most: int) -> bytes | None:
    """Return the beginning of the index of a database's log; empty without an index, None while the database is open.

    A file that this process has open is not read: closing it would give up all locks that the process holds on it,
    also those of SQLite.
    """
    with _CREATING:
        if os.path.realpath(path) in {_PATHS.get(one) for one in apsw.connections()}:
            return None
        try:
            with path.with_name(path.name + LOG_INDEX).open("rb") as file:
                return None if _is_locked(file.fileno()) else file.read(most)
        except OSError:
            return b""


def _is_locked(index: int) -> bool:
    """Return whether another process has the database open: each locks one byte of the index until it closes it."""
    if os.name == "nt":
        return False
    import fcntl  # noqa: PLC0415 - there is no such module on Windows

    fields = _LOCK_OF_MACOS if sys.platform == "darwin" else _LOCK_OF_LINUX
    values = {"type": fcntl.F_WRLCK, "whence": os.SEEK_SET, "start": _OPEN_BYTE, "length": 1, "process": 0}
    lock = struct.Struct("@" + "".join(fields.values()))
    answer = lock.unpack(fcntl.fcntl(index, fcntl.F_GETLK, lock.pack(*(values[name] for name in fields))))
    return dict(zip(fields, answer, strict=True))["type"] != fcntl.F_UNLCK


def check_version(version: str) -> None:
    """Raise if this version of SQLite is known to corrupt databases."""
    if tuple(map(int, version.split("."))) < _FLOOR:
        raise StorageError(f"SQLite {version} can corrupt a database; install apsw-sqlite3mc 3.54 or newer")


def _vfs(name: str | None, key: bytes | None) -> str | None:
    """Return the VFS that encrypts, on top of the requested one."""
    return f"multipleciphers-{name}" if name and key else name


def raw_key(key: bytes) -> str:
    """Return a key as SQLite takes it: raw, because it is random and deriving one would only cost time."""
    return f"raw:{key.hex()}"


def _encrypt(connection: apsw.Connection, key: bytes) -> None:
    # An authenticated cipher: a changed byte is an error, not a wrong answer.
    connection.pragma("cipher", "chacha20")
    connection.pragma("key", raw_key(key))


def _configure(connection: apsw.Connection, cache_kib: int, busy_timeout: timedelta) -> None:
    connection.set_busy_handler(_waiter(busy_timeout))
    if connection.pragma("journal_mode") != "wal":
        connection.pragma("journal_mode", "wal")
    # A commit that was acknowledged must survive a power cut.
    connection.pragma("synchronous", "full")
    # Per connection: a connection without it leaves deleted text in the file.
    connection.pragma("secure_delete", "on")
    # A sort must not spill text into an unencrypted temporary file.
    connection.pragma("temp_store", "memory")
    connection.pragma("foreign_keys", "on")
    connection.pragma("cache_size", -cache_kib)
    # A file that came from elsewhere must not run code through its schema.
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    # Without this SQLite compiles a statement anew each time its parameters get values, to plan by them; there are no
    # statistics by which it could.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    register_functions(connection)


@contextmanager
def reading_once(connection: apsw.Connection) -> Generator[None]:
    """Shrink the page cache while this is open, so that a table which is read once does not stay in memory."""
    before = connection.pragma("cache_size")
    connection.pragma("cache_size", -_READ_ONCE_KIB)
    try:
        yield
    finally:
        connection.pragma("cache_size", before)


def _waiter(limit: timedelta) -> Callable[[int], bool]:
    """Wait in short, growing steps: SQLite's own steps grow to 100 ms and starve one of several callers."""
    seconds = limit.total_seconds()
    began = 0.0

    def wait(tries: int) -> bool:
        nonlocal began
        now = time.monotonic()
        if tries == 0:
            began = now
        if now - began >= seconds:
            return False
        time.sleep(min(0.0005 * (tries + 1), 0.005))
        return True

    return wait


_PATIENCE = timedelta(seconds=0.3)


def is_only_connection(path: Path, key: bytes | None) -> bool:
    """Return True when no other connection is open: only then does SQLite give up the log."""
    connection = connect(path, key=key, busy_timeout=_PATIENCE)
    try:
        with translated(path, encrypted=key is not None):
            return connection.pragma("journal_mode", "delete") == "delete"
    except Busy:
        return False
    finally:
        connection.close()
