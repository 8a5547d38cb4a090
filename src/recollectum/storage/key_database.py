"""Opens keys.db, asks the holder for the master key when it is first needed, and wraps other keys by it."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TypeVar

from recollectum.domain.errors import Busy, KeyProblem, WrongKey
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.keys import holders
from recollectum.home.keys.holders import HolderOptions, HolderRecord
from recollectum.home.keys.wrapping import MasterKey, unwrap, wrap
from recollectum.home.locks import Lock
from recollectum.home.paths import Home, prepare
from recollectum.home.reserve import Reserve
from recollectum.storage.key_tables import find_holder, find_key, home_id
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx, checkpoint
from recollectum.storage.sqlite.files import HomeFiles

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInputs:
    """The caller's inputs for finding or holding the master key."""

    key_file: str
    passphrase: str | None = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)


class KeyDatabase:
    """The file keys.db of one home, and its master key once it was needed."""

    def __init__(self, home: Home, offer: KeyInputs, clock: Clock) -> None:
        self._home = home
        self._files = HomeFiles(home)
        self._offer = offer
        self._clock = clock
        # Deleting a key must work on a full disk.
        self._options = SqliteOptions(cache_kib=64, readers=1, make_room=Reserve(home.reserve_file).release)
        self._database: SqliteDatabase | None = None
        self._master: MasterKey | None = None
        #: Whether the holder was seen to hold a second key, because a change of the master key was interrupted.
        self._holds_several = False
        self._guard = threading.RLock()

    def _unlocked(self) -> MasterKey:
        """Return the master key, asked for again when another process has changed it."""
        with self._guard:
            record = self._record()
            if self._master is None or self._master.fingerprint() != record.fingerprint:
                found = holders.fetch_all(record, self._means())
                self._holds_several = len(found) > 1
                self._master = found[0]
            return self._master

    def _find(self, name: str) -> bytes | None:
        """Return the key of that name, unwrapped; None when there is none."""
        while True:
            master = self._unlocked()
            wrapped = self._read(lambda tx: find_key(tx, name))
            if wrapped is None:
                return None
            key = unwrap(wrapping_key(master), wrapped, label(name))
            if key is not None:
                return key
            if self._record().fingerprint == master.fingerprint():
                raise wrong_wrap(name, self._files.keys)

    def _store(self, name: str, key: bytes, work: Callable[[Tx, bytes], T]) -> T:
        """Run `work` with the wrapped key in one durable transaction, in which the master key is the current one."""
        while True:
            master = self._unlocked()
            wrapped = wrap(wrapping_key(master), key, label(name))
            done = self._write(lambda tx, m=master, w=wrapped: (work(tx, w),) if self._is_current(tx, m) else None)
            if done is not None:
                return done[0]

    def _is_current(self, tx: Tx, master: MasterKey) -> bool:
        record = find_holder(tx, self._files.keys)
        return record is None or record.fingerprint == master.fingerprint()

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

    def _write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        return self._opened().write(work, frees=frees)

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


def wrapping_key(master: MasterKey) -> bytes:
    """Return the key that wraps all others."""
    return master.derive("vault keys")


def label(name: str) -> str:
    """Return what the wrap of a key is bound to."""
    return f"vault key v1 {name}"


def wrong_wrap(name: str, path: Path) -> WrongKey:
    """Return the error for a wrapped key that does not open."""
    return WrongKey(
        f"the wrapped key of vault {name!r} in {path} was changed or belongs to another vault; "
        "restore keys.db from a backup"
    )
