"""Stores the key of each vault in keys.db, wrapped by a key derived from the home's master key."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

from recollectum.domain.errors import Busy, Conflict, Damaged, KeyProblem, KeyStoreMissing, SchemaNewer, WrongKey
from recollectum.domain.ids import Clock, IdMaker, system_clock
from recollectum.home.keys import holders
from recollectum.home.keys.holders import HolderKind, HolderOptions, HolderRecord, KeyHolder
from recollectum.home.keys.wrapping import MasterKey, new_key, unwrap, wrap
from recollectum.home.locks import Lock
from recollectum.home.paths import Home, prepare
from recollectum.home.reserve import Reserve
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx, checkpoint
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.sqlite.recovery.log_check import open_database
from recollectum.storage.times import micros, moment

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
_NAME_HOME = "INSERT INTO home (one, id, created_at) VALUES (1, :id, :now) ON CONFLICT DO NOTHING"
_SAVE_HOLDER = """
    INSERT OR REPLACE INTO holder (one, kind, detail, fingerprint, chosen_at)
    VALUES (1, :kind, :detail, :fingerprint, :now)
"""
_HOLDER = "SELECT kind, detail, fingerprint FROM holder"
_SAVE_RECOVERY = "INSERT OR REPLACE INTO recovery (one, wrapped, made_at) VALUES (1, :wrapped, :now)"
_RECOVERY = "SELECT wrapped, made_at FROM recovery"
_ADD_KEY = "INSERT INTO vault_keys (vault_id, wrapped, made_at) VALUES (:id, :wrapped, :now) ON CONFLICT DO NOTHING"
_KEY = "SELECT wrapped FROM vault_keys WHERE vault_id = :id"
_REMOVE_KEY = "DELETE FROM vault_keys WHERE vault_id = :id"


def tables_exist(tx: Tx, path: Path) -> bool:
    """Return whether the tables exist; raise when a newer program wrote the file."""
    version = tx.rows("PRAGMA user_version", {})[0][0]
    if version > _VERSION:
        known = f"schema {version}, this one knows {_VERSION}"
        raise SchemaNewer(f"{path} was written by a newer Recollectum ({known}); upgrade the program")
    return version == _VERSION


def create_tables(tx: Tx, home_id: str, now: datetime) -> None:
    """Create the tables, and give the home an id unless it has one."""
    tx.rows(_SCHEMA, {})
    tx.run(_NAME_HOME, {"id": home_id, "now": micros(now)})


def home_id(tx: Tx) -> str:
    """Return the id under which a keyring or a key file stores this home's master key."""
    return str(tx.rows("SELECT id FROM home", {})[0][0])


def find_holder(tx: Tx, path: Path) -> HolderRecord | None:
    """Return the holder of the master key, or None before one was chosen."""
    rows = tx.rows(_HOLDER, {})
    if not rows:
        return None
    kind, detail, fingerprint = rows[0]
    try:
        return HolderRecord(kind=HolderKind(kind), detail=json.loads(detail), fingerprint=fingerprint)
    except ValueError:
        raise Damaged(f"{path} does not say who holds the key; restore keys.db from a backup") from None


def save_holder(tx: Tx, record: HolderRecord, now: datetime) -> None:
    """Set or replace the holder of the master key."""
    detail = json.dumps(dict(record.detail))
    row = {"kind": record.kind.value, "detail": detail, "fingerprint": record.fingerprint, "now": micros(now)}
    tx.run(_SAVE_HOLDER, row)


def find_recovery(tx: Tx) -> tuple[bytes, datetime] | None:
    """Return the master key wrapped by the recovery code, and the time the code was made."""
    rows = tx.rows(_RECOVERY, {})
    return (rows[0][0], moment(rows[0][1])) if rows else None


def save_recovery(tx: Tx, wrapped: bytes, now: datetime) -> None:
    """Store the master key as wrapped by a new recovery code; the previous code no longer works."""
    tx.run(_SAVE_RECOVERY, {"wrapped": wrapped, "now": micros(now)})


def find_key(tx: Tx, vault_id: str) -> bytes | None:
    """Return the wrapped key of one vault."""
    rows = tx.rows(_KEY, {"id": vault_id})
    return rows[0][0] if rows else None


def add_key(tx: Tx, vault_id: str, wrapped: bytes, now: datetime) -> bool:
    """Store the wrapped key of a new vault; return False when it already has one."""
    return tx.run(_ADD_KEY, {"id": vault_id, "wrapped": wrapped, "now": micros(now)}) == 1


def remove_key(tx: Tx, vault_id: str) -> bool:
    """Delete the wrapped key of one vault; return False when there was none."""
    return tx.run(_REMOVE_KEY, {"id": vault_id}) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyInputs:
    """The caller's inputs for finding or holding the master key."""

    key_file: str
    passphrase: str | None = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)


class KeyStore:
    """The wrapped keys of one home. It asks the holder for the master key once, when the key is first needed."""

    def __init__(self, home: Home, offer: _KeyInputs, clock: Clock) -> None:
        self._home = home
        self._files = HomeFiles(home)
        self._offer = offer
        self._clock = clock
        # Deleting a key must work on a full disk.
        self._options = SqliteOptions(cache_kib=64, readers=1, make_room=Reserve(home.reserve_file).release)
        self._database: SqliteDatabase | None = None
        self._master: MasterKey | None = None
        self._guard = threading.RLock()

    @classmethod
    def open(
        cls,
        home: Home,
        *,
        encryption: Literal["auto", "off"],
        key_file: str = "",
        passphrase: str | None = None,
        environ: Mapping[str, str],
        clock: Clock = system_clock,
    ) -> "KeyStore":
        """Return the key store of the home; create it when there is none and encryption is on.

        Opening needs no master key, so that a person who lost it can still ask who holds it, recover it, or destroy a
        vault. `unlock`, and every call that needs the key, raises KeyProblem when the key is not available.
        """
        given = passphrase or environ.get(holders.PASSPHRASE_VARIABLE) or None
        store = cls(home, _KeyInputs(key_file=key_file, passphrase=given, environ=environ), clock)
        try:
            if not store._attach() and encryption != "off":
                store._create()
        except BaseException:
            store.close()
            raise
        return store

    @property
    def enabled(self) -> bool:
        """Return whether a key store exists; False when encryption is off and none was ever made."""
        return self._database is not None

    def unlock(self) -> None:
        """Ask the holder for the master key now, to fail early."""
        self._unlocked()

    def holder(self) -> KeyHolder:
        """Return the holder of the master key in plain words."""
        if not self.enabled:
            return holders.OFF
        made = self._read(find_recovery)
        return holders.describe(self._record(), self._means(), made[1] if made else None)

    def has_key(self, vault_id: str) -> bool:
        """Return whether a vault has a key."""
        return self.enabled and self._read(lambda tx: find_key(tx, vault_id)) is not None

    def key(self, vault_id: str) -> bytes:
        """Return the key of one vault; raise KeyProblem when there is none."""
        master = self._unlocked()
        wrapped = self._read(lambda tx: find_key(tx, vault_id))
        if wrapped is None:
            raise KeyProblem(
                f"there is no key for vault {vault_id!r} in {self._files.keys}: it was destroyed, or the file "
                "is older than the vault; restore keys.db from a later backup"
            )
        key = unwrap(_wrapping_key(master), wrapped, _label(vault_id))
        if key is None:
            raise WrongKey(
                f"the wrapped key of vault {vault_id!r} in {self._files.keys} was changed or belongs to another vault; "
                "restore keys.db from a backup"
            )
        return key

    def make_key(self, vault_id: str) -> bytes:
        """Create and durably store a random key for a vault; raise Conflict when it already has one."""
        master, key = self._unlocked(), new_key()
        wrapped = wrap(_wrapping_key(master), key, _label(vault_id))
        if not self._write(lambda tx: add_key(tx, vault_id, wrapped, self._clock())):
            raise Conflict(f"vault {vault_id!r} has a key already; use it, or destroy it first")
        return key

    def destroy_key(self, vault_id: str, *, used: bool = True) -> bool:
        """Delete the key of a vault and every byte of it in the file and its log; return False when there was none.

        The bytes of a key that encrypted nothing yet may stay in the log, which others may be reading.
        """
        if not self.enabled:
            return False
        removed = self._opened().write(lambda tx: remove_key(tx, vault_id), frees=True)
        # Also when there was no key: an earlier attempt may have stopped before it emptied the log.
        if used:
            self._empty_log(f"the key of vault {vault_id!r} is deleted")
        return removed

    def manifest_key(self) -> bytes:
        """Return the key that authenticates the manifests of backups."""
        return self._unlocked().derive("backup manifests")

    def new_recovery_code(self) -> str:
        """Return a new recovery code for the master key, shown only now; the previous code no longer works."""
        from recollectum.home.keys import recovery  # noqa: PLC0415 - a code is made once in the life of a home

        master, code = self._unlocked(), recovery.new_code()
        wrapped = recovery.wrap_master(code, master, self._means().home_id)
        self._write(lambda tx: save_recovery(tx, wrapped, self._clock()))
        self._empty_log("the new recovery code is recorded and the old one deleted")
        return code

    def recover(self, code: str, *, passphrase: str | None = None) -> KeyHolder:
        """Give the master key to a holder on this machine: the passphrase if one is given, else the default choice.

        The previous holder is left alone: it is lost, broken, or on another machine.
        """
        from recollectum.home.keys import recovery  # noqa: PLC0415 - few homes are ever recovered

        with self._guard, self._lock():
            found = self._read(find_recovery)
            if found is None:
                raise KeyProblem("no recovery code was made for this home; only the recorded holder can open it")
            means = replace(self._means(), passphrase=passphrase or None)
            master = recovery.unwrap_master(code, found[0], means.home_id)
            self._hand_over(master, holders.choose(means), means)
        return self.holder()

    def hold_by(self, kind: HolderKind, *, passphrase: str | None = None, key_file: str = "") -> KeyHolder:
        """Move the master key to another holder, or change its passphrase; drop the old holder last."""
        master = self._unlocked()
        with self._guard, self._lock():
            old, old_means = self._record(), self._means()
            means = replace(old_means, passphrase=passphrase or None, key_file=key_file or old_means.key_file)
            new = self._hand_over(master, kind, means)
            if not holders.same_place(old, new):
                holders.drop(old, old_means)
        return self.holder()

    def close(self) -> None:
        """Forget the master key and close the file; calling it again does nothing."""
        with self._guard:
            self._master = None
            if self._database is not None:
                self._database.close()

    def _attach(self) -> bool:
        """Open keys.db if it exists and its holder is set."""
        path = self._files.keys
        if not path.exists():
            return False
        self._database = open_database(self._home, self._clock, path, lambda: SqliteDatabase(path, self._options))
        if self._read(lambda tx: tables_exist(tx, path) and find_holder(tx, path) is not None):
            return True
        self._database.close()
        self._database = None
        return False

    def _create(self) -> None:
        with self._lock():
            # Another process may have created it while this one waited.
            if self._attach():
                return
            _refuse_to_replace(self._files)
            self._database = SqliteDatabase(self._files.keys, self._options)
            # Store the home's id first, in its own transaction: if creation is killed later, the next attempt finds its
            # orphaned keys by this id.
            self._write(lambda tx: create_tables(tx, IdMaker(self._clock)("home"), self._clock()))
            # Write nothing that the master key wraps before the holder has proved that it keeps the key.
            record, master = holders.establish(self._means())
            self._write(lambda tx: save_holder(tx, record, self._clock()))
            self._master = master

    def _hand_over(self, master: MasterKey, kind: HolderKind, means: HolderOptions) -> HolderRecord:
        """Give the key to a holder, and record the holder only after that."""
        record = holders.keep(kind, master, means)
        self._write(lambda tx: save_holder(tx, record, self._clock()))
        self._offer = replace(self._offer, passphrase=means.passphrase, key_file=means.key_file)
        self._master = master
        # The previous row may be a wrap under an old passphrase.
        self._empty_log("the new holder is recorded and the old record deleted")
        return record

    def _unlocked(self) -> MasterKey:
        with self._guard:
            if self._master is None:
                self._master = holders.fetch(self._record(), self._means())
            return self._master

    def _record(self) -> HolderRecord:
        path = self._files.keys
        record = self._read(lambda tx: find_holder(tx, path))
        if record is None:
            raise KeyProblem(f"{path} does not say who holds the key; restore keys.db from a backup")
        return record

    def _means(self) -> HolderOptions:
        return HolderOptions(
            home=self._home.root,
            home_id=self._read(home_id),
            environ=self._offer.environ,
            key_file=self._offer.key_file,
            passphrase=self._offer.passphrase,
        )

    def _read(self, work: Callable[[Tx], T]) -> T:
        # Use the only connection: a second one for readers would double the cost of opening.
        return self._opened().on_connection(lambda connection: work(SqliteTx(connection)))

    def _write(self, work: Callable[[Tx], T]) -> T:
        return self._opened().write(work)

    def _empty_log(self, done: str) -> None:
        if not self._opened().on_connection(checkpoint):
            raise Busy(f"{done}, but other programs read {self._files.keys}; close them and try again to empty its log")

    def _opened(self) -> SqliteDatabase:
        if self._database is None:
            raise KeyProblem("this home has no keys, because encryption is off; nothing in it is encrypted")
        return self._database

    def _lock(self) -> Lock:
        """Allow one creation or change of holder at a time, across all processes."""
        # A home restored from a backup may lack its folder of locks.
        prepare(self._home)
        return Lock(self._home.locks / "keys.lock")


def _wrapping_key(master: MasterKey) -> bytes:
    return master.derive("vault keys")


def _label(vault_id: str) -> str:
    return f"vault key v1 {vault_id}"


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
