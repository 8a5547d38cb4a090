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
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx, checkpoint
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.times import micros, moment

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
_VERSION_OF = "PRAGMA user_version"
_NAME_HOME = "INSERT INTO home (one, id, created_at) VALUES (1, :id, :now) ON CONFLICT DO NOTHING"
_HOME_ID = "SELECT id FROM home"
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
    """Whether the tables are there; a file of a newer program is refused in words."""
    version = tx.rows(_VERSION_OF, {})[0][0]
    if version > _VERSION:
        raise SchemaNewer(
            f"{path} was written by a newer Recollectum (schema {version}, this one knows {_VERSION}); "
            "upgrade the program"
        )
    return version == _VERSION


def create_tables(tx: Tx, home_id: str, now: datetime) -> None:
    """Create the tables, and name the home unless it has a name."""
    tx.rows(_SCHEMA, {})
    tx.run(_NAME_HOME, {"id": home_id, "now": micros(now)})


def home_id(tx: Tx) -> str:
    """The id under which a keyring or a key file knows this home."""
    return str(tx.rows(_HOME_ID, {})[0][0])


def find_holder(tx: Tx, path: Path) -> HolderRecord | None:
    """Who holds the master key, once that was settled."""
    rows = tx.rows(_HOLDER, {})
    if not rows:
        return None
    kind, detail, fingerprint = rows[0]
    try:
        return HolderRecord(kind=HolderKind(kind), detail=json.loads(detail), fingerprint=fingerprint)
    except ValueError:
        raise Damaged(f"{path} does not say who holds the key; restore keys.db from a backup") from None


def save_holder(tx: Tx, record: HolderRecord, now: datetime) -> None:
    """Settle, or change, who holds the master key."""
    detail = json.dumps(dict(record.detail))
    row = {"kind": record.kind.value, "detail": detail, "fingerprint": record.fingerprint, "now": micros(now)}
    tx.run(_SAVE_HOLDER, row)


def find_recovery(tx: Tx) -> tuple[bytes, datetime] | None:
    """The master key wrapped by the recovery code, and when the code was made."""
    rows = tx.rows(_RECOVERY, {})
    return (rows[0][0], moment(rows[0][1])) if rows else None


def save_recovery(tx: Tx, wrapped: bytes, now: datetime) -> None:
    """Keep the wrap of a new code; the one before it opens nothing any more."""
    tx.run(_SAVE_RECOVERY, {"wrapped": wrapped, "now": micros(now)})


def find_key(tx: Tx, vault_id: str) -> bytes | None:
    """The wrapped key of one vault."""
    rows = tx.rows(_KEY, {"id": vault_id})
    return rows[0][0] if rows else None


def add_key(tx: Tx, vault_id: str, wrapped: bytes, now: datetime) -> bool:
    """Keep the wrapped key of a new vault; False when it has one."""
    return tx.run(_ADD_KEY, {"id": vault_id, "wrapped": wrapped, "now": micros(now)}) == 1


def remove_key(tx: Tx, vault_id: str) -> bool:
    """Delete the wrapped key of one vault; False when there was none."""
    return tx.run(_REMOVE_KEY, {"id": vault_id}) == 1


T = TypeVar("T")
_OPTIONS = SqliteOptions(cache_kib=64, readers=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyInputs:
    """What the caller gave for finding or holding the master key."""

    key_file: str
    passphrase: str | None = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)


class KeyStore:
    """The wrapped keys of one home. The master key is asked of its holder when it is first needed, and once."""

    def __init__(self, home: Home, offer: _KeyInputs, clock: Clock) -> None:
        self._home = home
        self._files = HomeFiles(home)
        self._offer = offer
        self._clock = clock
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
        """The key store of the home, made when there is none and encryption is not off.

        It opens without the master key, so that a person who lost it can still ask who holds it, recover it,
        or destroy a vault. `unlock`, and every call that needs the key, raises KeyProblem when it cannot be had.
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
        """Whether there are keys here; False when encryption is off and no key store was ever made."""
        return self._database is not None

    def unlock(self) -> None:
        """Ask the holder for the master key now, to fail early."""
        self._unlocked()

    def holder(self) -> KeyHolder:
        """Who holds the master key, in plain words."""
        if not self.enabled:
            return holders.OFF
        made = self._read(find_recovery)
        return holders.describe(self._record(), self._means(), made[1] if made else None)

    def has_key(self, vault_id: str) -> bool:
        """Whether there is a key for one vault."""
        return self.enabled and self._read(lambda tx: find_key(tx, vault_id)) is not None

    def key(self, vault_id: str) -> bytes:
        """The key of one vault; KeyProblem when there is none."""
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
                f"the wrapped key of vault {vault_id!r} in {self._files.keys} was changed or is another vault's; "
                "restore keys.db from a backup"
            )
        return key

    def make_key(self, vault_id: str) -> bytes:
        """A new random key for a vault, durable when this returns; Conflict when it has one."""
        master, key = self._unlocked(), new_key()
        wrapped = wrap(_wrapping_key(master), key, _label(vault_id))
        if not self._write(lambda tx: add_key(tx, vault_id, wrapped, self._clock())):
            raise Conflict(f"vault {vault_id!r} has a key already; use it, or destroy it first")
        return key

    def destroy_key(self, vault_id: str) -> bool:
        """Delete the key of a vault so that no byte of it stays in the file or its log; False when there was none."""
        if not self.enabled:
            return False
        removed = self._write(lambda tx: remove_key(tx, vault_id))
        # Also when there was none: an earlier attempt may have been cut short before the log was emptied.
        self._empty_log(f"the key of vault {vault_id!r} is deleted")
        return removed

    def new_recovery_code(self) -> str:
        """A code that gives the master key back, shown this once; the one before it opens nothing any more."""
        from recollectum.home.keys import recovery  # noqa: PLC0415 - a code is made once in the life of a home

        master, code = self._unlocked(), recovery.new_code()
        wrapped = recovery.wrap_master(code, master, self._means().home_id)
        self._write(lambda tx: save_recovery(tx, wrapped, self._clock()))
        self._empty_log("the new recovery code is recorded and the old one deleted")
        return code

    def recover(self, code: str, *, passphrase: str | None = None) -> KeyHolder:
        """Give the master key to a holder on this machine: the passphrase when one is given, else the usual choice.

        What the holder before it may still have is left alone: it is lost, broken, or on another machine.
        """
        from recollectum.home.keys import recovery  # noqa: PLC0415 - few homes are ever recovered

        with self._guard, self._lock():
            found = self._read(find_recovery)
            if found is None:
                raise KeyProblem("no recovery code was made for this home; the recorded holder is the only way in")
            means = replace(self._means(), passphrase=passphrase or None)
            master = recovery.unwrap_master(code, found[0], means.home_id)
            self._hand_over(master, holders.choose(means), means)
        return self.holder()

    def hold_by(self, kind: HolderKind, *, passphrase: str | None = None, key_file: str = "") -> KeyHolder:
        """Move the master key to another holder, or change its passphrase; the old one is dropped last."""
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
        """Open keys.db where it is there and its holder is settled."""
        path = self._files.keys
        if not path.exists():
            return False
        self._database = SqliteDatabase(path, _OPTIONS)
        if self._read(lambda tx: tables_exist(tx, path) and find_holder(tx, path) is not None):
            return True
        self._database.close()
        self._database = None
        return False

    def _create(self) -> None:
        with self._lock():
            # Another process may have made it while this one waited.
            if self._attach():
                return
            _refuse_to_replace(self._files)
            self._database = SqliteDatabase(self._files.keys, _OPTIONS)
            # The home is named first and by itself: a creation that is killed later finds its own orphans by the name.
            self._write(lambda tx: create_tables(tx, IdMaker(self._clock)("home"), self._clock()))
            # Nothing wrapped by the master key is written before its holder has proved to keep it.
            record, master = holders.establish(self._means())
            self._write(lambda tx: save_holder(tx, record, self._clock()))
            self._master = master

    def _hand_over(self, master: MasterKey, kind: HolderKind, means: HolderOptions) -> HolderRecord:
        """Give the key to a holder, and only then record it."""
        record = holders.keep(kind, master, means)
        self._write(lambda tx: save_holder(tx, record, self._clock()))
        self._offer = replace(self._offer, passphrase=means.passphrase, key_file=means.key_file)
        self._master = master
        # The row before it may have been a wrap under an old passphrase.
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
        # On the one connection there is: a second, for readers, would double the cost of opening.
        return self._opened().on_connection(lambda connection: work(SqliteTx(connection)))

    def _write(self, work: Callable[[Tx], T]) -> T:
        return self._opened().write(work)

    def _empty_log(self, done: str) -> None:
        if not self._opened().on_connection(checkpoint):
            raise Busy(f"{done}, but others read {self._files.keys} and its log still has it; close them and try again")

    def _opened(self) -> SqliteDatabase:
        if self._database is None:
            raise KeyProblem("this home has no keys, because encryption is off; nothing in it is encrypted")
        return self._database

    def _lock(self) -> Lock:
        """One creation or change of holder at a time, in all processes."""
        # A home restored from a backup may come without its folder of locks.
        prepare(self._home)
        return Lock(self._home.locks / "keys.lock")


def _wrapping_key(master: MasterKey) -> bytes:
    return master.derive("vault keys")


def _label(vault_id: str) -> str:
    return f"vault key v1 {vault_id}"


def _refuse_to_replace(files: HomeFiles) -> None:
    """Never make new keys where a catalog or vaults exist that only the old ones open."""
    for path in (files.catalog, *files.vaults()):
        if path.exists() and not _is_plain(path):
            raise KeyStoreMissing(
                f"{files.keys} is missing or empty, but {path} is encrypted; restore keys.db from a backup, "
                "the vaults cannot be opened without it"
            )


def _is_plain(path: Path) -> bool:
    """Whether a file can be read without a key. SQLite is asked: opening the file ourselves would drop its locks."""
    if path.stat().st_size == 0:
        return True
    try:
        connect(path).close()
    except Damaged:
        return False
    return True
