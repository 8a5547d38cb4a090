"""Asks the holder for the master key when it is first needed, and wraps and unwraps other keys by it."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeVar

from recollectum.domain.errors import KeyProblem, WrongKey
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.keys import holders
from recollectum.home.keys.holders import HolderOptions, HolderRecord
from recollectum.home.keys.wrapping import MasterKey, unwrap, wrap
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.storage.key_tables import find_holder, find_key, home_id
from recollectum.storage.port import Tx
from recollectum.storage.shared.key_place import HOLDERS, KeyPlace
from recollectum.storage.shared.shared_lock import SharedLock

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInputs:
    """The caller's inputs for finding or holding the master key."""

    key_file: str
    passphrase: str | None = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)


class KeyDatabase:
    """The wrapped keys of one home, and its master key once it was needed."""

    def __init__(self, home: Home, place: KeyPlace, offer: KeyInputs, clock: Clock) -> None:
        self._home = home
        #: Where the wrapped keys are.
        self.place = place
        self._offer = offer
        self._clock = clock
        self._master: MasterKey | None = None
        #: The holder as it is recorded, and as this host has it.
        self._known: tuple[HolderRecord, HolderRecord] | None = None
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
            wrapped = self.place.read(lambda tx: find_key(tx, name))
            if wrapped is None:
                return None
            key = unwrap(wrapping_key(master), wrapped, label(name))
            if key is not None:
                return key
            if self._record().fingerprint == master.fingerprint():
                raise wrong_wrap(name, self.place.words)

    def _store(self, name: str, key: bytes, work: Callable[[Tx, bytes], T]) -> T:
        """Run `work` with the wrapped key in one durable transaction, in which the master key is the current one."""
        while True:
            master = self._unlocked()
            wrapped = wrap(wrapping_key(master), key, label(name))
            done = self.place.write(lambda tx, m=master, w=wrapped: (work(tx, w),) if self._is_current(tx, m) else None)
            if done is not None:
                return done[0]

    def _is_current(self, tx: Tx, master: MasterKey) -> bool:
        record = find_holder(tx, self.place.words)
        return record is None or record.fingerprint == master.fingerprint()

    def _record(self) -> HolderRecord:
        words = self.place.words
        record = self.place.read(lambda tx: find_holder(tx, words))
        if record is None:
            raise KeyProblem(f"{words} does not say who holds the key; restore it from a backup")
        if not self.place.is_shared:
            return record
        with self._guard:
            if self._known is None or self._known[0] != record:
                self._known = record, holders.on_this_host(record, self._means())
            return self._known[1]

    def _means(self) -> HolderOptions:
        return HolderOptions(
            home=self._home.root,
            home_id=self.place.read(home_id),
            environ=self._offer.environ,
            key_file=self._offer.key_file,
            passphrase=self._offer.passphrase,
            is_shared=self.place.is_shared,
        )

    def _lock(self) -> Lock | SharedLock:
        """Allow one creation or change of holder at a time, across all processes and hosts."""
        return self.place.lock(HOLDERS)


def wrapping_key(master: MasterKey) -> bytes:
    """Return the key that wraps all others."""
    return master.derive("vault keys")


def label(name: str) -> str:
    """Return what the wrap of a key is bound to."""
    return f"vault key v1 {name}"


def wrong_wrap(name: str, words: str) -> WrongKey:
    """Return the error for a wrapped key that does not open."""
    return WrongKey(
        f"the wrapped key of vault {name!r} in {words} was changed or belongs to another vault; "
        "restore it from a backup"
    )
