"""Keeps the wrapped keys of a home in its file keys.db."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

from recollectum.domain.errors import Busy, Damaged, KeyProblem, KeyStoreMissing, SchemaNewer
from recollectum.domain.ids import Clock, IdMaker
from recollectum.home.locks import Lock
from recollectum.home.paths import Home, prepare
from recollectum.home.reserve import Reserve
from recollectum.storage.engine import ServerFinding, VaultCopy
from recollectum.storage.key_tables import find_holder, name_home
from recollectum.storage.port import Tx
from recollectum.storage.shared.key_rows import KeyRows, add_rows, read_rows
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx, checkpoint
from recollectum.storage.sqlite.files import KEYS_FILE, HomeFiles
from recollectum.storage.sqlite.recovery.log_check import open_database

T = TypeVar("T")
_VERSION = 1
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS home (
        one        INTEGER PRIMARY KEY CHECK (one = 1),
        id         TEXT NOT NULL,
        created_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS holder (
        one         INTEGER PRIMARY KEY CHECK (one = 1),
        kind        TEXT NOT NULL,
        detail      TEXT NOT NULL,
        -- Of the master key; from it the key cannot be found.
        fingerprint BLOB NOT NULL,
        chosen_at   INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS recovery (
        one     INTEGER PRIMARY KEY CHECK (one = 1),
        wrapped BLOB NOT NULL,
        made_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS vault_keys (
        vault_id TEXT PRIMARY KEY,
        wrapped  BLOB NOT NULL,
        made_at  INTEGER NOT NULL
    ) STRICT;
    PRAGMA user_version = 1;
"""


class KeysFile:
    """The file keys.db of one home; see `KeyPlace`."""

    name = KEYS_FILE
    #: The processes of one host alone use it.
    is_shared = False
    host = ""

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home = home
        self._files = HomeFiles(home)
        self._clock = clock
        # Deleting a key must work on a full disk.
        self._options = SqliteOptions(cache_kib=64, readers=1, make_room=Reserve(home.reserve_file).release)
        self._database: SqliteDatabase | None = None

    @property
    def words(self) -> str:
        """Return the path."""
        return str(self._files.keys)

    @property
    def is_open(self) -> bool:
        """Return whether the file is open."""
        return self._database is not None

    def open(self) -> bool:
        """Open the file if it exists and its holder is set."""
        path = self._files.keys
        if not path.exists():
            return False
        self._database = open_database(self._home, self._clock, path, lambda: SqliteDatabase(path, self._options))
        if self.read(lambda tx: _tables_exist(tx, path) and find_holder(tx, self.words) is not None):
            return True
        self._database.close()
        self._database = None
        return False

    def create(self) -> None:
        """Create the file with the home's id, or go on with one whose creation was killed.

        The id is stored in its own transaction: if creation is killed later, the next attempt finds its orphaned keys
        by this id.
        """
        _refuse_to_replace(self._files)
        self._database = SqliteDatabase(self._files.keys, self._options)

        def create(tx: Tx) -> None:
            tx.rows(_SCHEMA, {})
            name_home(tx, IdMaker(self._clock)("home"), self._clock())

        self.write(create)

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` on the only connection: a second one for readers would double the cost of opening."""
        return self._opened().on_connection(lambda connection: work(SqliteTx(connection)))

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction."""
        return self._opened().write(work, frees=frees)

    def empty_log(self, done: str) -> None:
        """Overwrite what was deleted in the write-ahead log."""
        if not self._opened().on_connection(checkpoint):
            raise Busy(f"{done}, but other programs read {self._files.keys}; close them and try again to empty its log")

    def lock(self, name: str) -> Lock:
        """Return a lock between the processes of this host."""
        # A home restored from a backup may lack its folder of locks.
        prepare(self._home)
        return Lock(self._home.locks / f"{name}.lock")

    def copy(self, folder: Path, names: Collection[str]) -> VaultCopy:
        """Copy a snapshot of the file, with the keys of these names alone."""
        # Imported here: few programs make backups.
        from recollectum.storage.sqlite.backup import copy_snapshot, keep_only_keys  # noqa: PLC0415
        from recollectum.storage.sqlite.upkeep import describe_file  # noqa: PLC0415

        target = folder / KEYS_FILE
        copy_snapshot(self._files.keys, target, key=None)
        keep_only_keys(target, names)
        return describe_file(target, KEYS_FILE, None)

    def findings(self) -> list[ServerFinding]:
        """Return none: the file is read with the rest of the home."""
        return []

    def ledger(self, key: bytes | None) -> None:
        """Return None: the ledger is in another file of the home."""

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()

    def _opened(self) -> SqliteDatabase:
        if self._database is None:
            raise KeyProblem("this home has no keys, because encryption is off; nothing in it is encrypted")
        return self._database


def read_keys_file(path: Path) -> KeyRows:
    """Return every row of a file that nobody has open."""
    database = SqliteDatabase(path, SqliteOptions(cache_kib=64, readers=1))
    try:
        return database.on_connection(lambda connection: read_rows(SqliteTx(connection)))
    finally:
        database.close()


def write_keys_file(path: Path, rows: KeyRows) -> None:
    """Write a new file with these rows, and no log beside it."""
    database = SqliteDatabase(path, SqliteOptions(cache_kib=64, readers=1))
    try:
        database.write(lambda tx: (tx.rows(_SCHEMA, {}), add_rows(tx, rows)))
        database.on_connection(checkpoint)
    finally:
        database.close()


def _tables_exist(tx: Tx, path: Path) -> bool:
    """Return whether the tables exist; raise when a newer program wrote the file."""
    version = tx.rows("PRAGMA user_version", {})[0][0]
    if version > _VERSION:
        known = f"schema {version}, this one knows {_VERSION}"
        raise SchemaNewer(f"{path} was written by a newer Recollectum ({known}); upgrade the program")
    return version == _VERSION


def _refuse_to_replace(files: HomeFiles) -> None:
    """Raise when a catalog or vaults exist, because new keys could not open them."""
    for path in (files.catalog, *files.vaults()):
        if path.exists() and not _is_plain(path):
            raise KeyStoreMissing(
                f"{files.keys} is missing or empty, but {path} is encrypted; restore keys.db from a backup, "
                "the vaults cannot be opened without it"
            )


def _is_plain(path: Path) -> bool:
    """Return whether a file can be read without a key.

    SQLite opens the file: closing our own handle to it would drop SQLite's locks.
    """
    if path.stat().st_size == 0:
        return True
    try:
        connect(path).close()
    except Damaged:
        return False
    return True
