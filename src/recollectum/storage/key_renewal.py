"""Replaces the key of a vault and the master key, so that an interrupted change is finished or undone.

A vault has its next key in a second row while its file is rewritten; whichever of the two keys opens the file is the
key. The master key is replaced in one transaction, which also stores the old one, wrapped by the new one, until
everything else that it wraps is rewritten.
"""

from dataclasses import field, replace
from datetime import datetime, timedelta

from recollectum.domain.errors import KeyProblem
from recollectum.domain.records import dataclass
from recollectum.home.keys import holders
from recollectum.home.keys.holders import HolderRecord
from recollectum.home.keys.wrapping import MasterKey, new_key, unwrap, wrap
from recollectum.storage.key_database import KeyDatabase, label, wrapping_key, wrong_wrap
from recollectum.storage.key_tables import (
    TASK_KEY,
    add_key,
    find_holder,
    find_key,
    names_of_keys,
    remove_key,
    remove_recovery,
    replace_key,
    save_holder,
    save_recovery,
)
from recollectum.storage.port import Tx

#: The name of a vault's next key begins with this. No vault id has a colon.
_NEXT = "next:"
#: The name of the master key that was replaced, with the host that replaced it where several share the keys: only that
#: one has the backups which the old one still wraps.
_OLD_MASTER = "old:master"


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterChange:
    """The old and the new master key, and what a copy of keys.db records of the new one."""

    old: MasterKey = field(repr=False)
    new: MasterKey = field(repr=False)
    record: HolderRecord = field(repr=False)
    #: The new master key as wrapped by the recovery code, and when that was made.
    recovery: tuple[bytes, datetime] | None = field(repr=False)

    def manifest_keys(self) -> tuple[bytes, bytes]:
        """Return the keys that authenticate the manifests of backups: the old one and the new one."""
        return manifest_key(self.old), manifest_key(self.new)


def names_of(vault_id: str) -> tuple[str, ...]:
    """Return the names of a vault's key, of its next key, and of the key of its tasks."""
    return vault_id, _NEXT + vault_id, TASK_KEY + vault_id


def manifest_key(master: MasterKey) -> bytes:
    """Return the key that authenticates the manifests of backups."""
    return master.derive("backup manifests")


def rewrap(tx: Tx, change: MasterChange, words: str, now: datetime) -> None:
    """Wrap every key by the new master key, and record its holder; the previous recovery code is deleted."""
    old, new = wrapping_key(change.old), wrapping_key(change.new)
    for name in names_of_keys(tx):
        key = unwrap(old, find_key(tx, name) or b"", label(name))
        if key is None:
            raise wrong_wrap(name, words)
        replace_key(tx, name, wrap(new, key, label(name)))
    save_holder(tx, change.record, now)
    remove_recovery(tx)
    if change.recovery:
        save_recovery(tx, *change.recovery)


class KeyRenewal(KeyDatabase):
    """The part of the key store that replaces keys."""

    def add_next_key(self, vault_id: str) -> bytes:
        """Create and durably store the key that a vault is rewritten under; its present key stays."""
        name, key = _NEXT + vault_id, new_key()

        def change(tx: Tx, wrapped: bytes) -> None:
            remove_key(tx, name)
            add_key(tx, name, wrapped, self._clock())

        self._store(name, key, change)
        return key

    def find_next_key(self, vault_id: str) -> bytes | None:
        """Return the key that a vault is being rewritten under; None when it is not."""
        name = _NEXT + vault_id
        # Look for the row first: the master key is asked for only when there is something to unwrap.
        waits = self.place.is_open and self.place.read(lambda tx: find_key(tx, name)) is not None
        return self._find(name) if waits else None

    def use_next_key(self, vault_id: str) -> None:
        """Make the next key of a vault its key, and delete the old one and every byte of it."""
        key = self.find_next_key(vault_id)
        if key is None:
            raise KeyProblem(f"vault {vault_id!r} has no next key in {self.place.words}; rewrite the vault again")

        def change(tx: Tx, wrapped: bytes) -> None:
            replace_key(tx, vault_id, wrapped, self._clock())
            remove_key(tx, _NEXT + vault_id)

        self._store(vault_id, key, change)
        self.place.empty_log(f"the new key of vault {vault_id!r} is recorded and the old one deleted")

    def remove_next_key(self, vault_id: str) -> None:
        """Delete the next key of a vault, which keeps its key."""
        self.place.write(lambda tx: remove_key(tx, _NEXT + vault_id), frees=True)

    def task_key(self, vault_id: str, *, make: bool) -> bytes | None:
        """Return the key of a vault's tasks, which a new key of the vault does not change.

        Without one, `make` creates and durably stores it; else None is returned.
        """
        name = TASK_KEY + vault_id
        found = self._find(name)
        if found is None and make:
            # Another process may be quicker, and its key counts.
            self._store(name, new_key(), lambda tx, wrapped: add_key(tx, name, wrapped, self._clock()))
            found = self._find(name)
        return found

    def is_key(self, vault_id: str, key: bytes) -> bool:
        """Return whether this is the key of a vault that is not being rewritten."""
        return self.find_next_key(vault_id) is None and self._find(vault_id) == key

    def has_unfinished(self) -> bool:
        """Return whether a change of keys is going on, or was interrupted when a process ended."""
        names = self.place.read(names_of_keys) if self.place.is_open else []
        return self._holds_several or any(name.startswith(_NEXT) or name == self._old_master for name in names)

    def unfinished_vaults(self) -> list[str]:
        """Return the vaults that are being rewritten, or were when a process ended."""
        names = self.place.read(names_of_keys) if self.place.is_open else []
        return [name.removeprefix(_NEXT) for name in names if name.startswith(_NEXT)]

    def change_master(self, code: str | None = None) -> MasterChange:
        """Replace the master key: its holder has the new one, and every other key is wrapped by it.

        The recovery code no longer works. The old key is stored until `finish_master`, for what it still wraps; only
        then is `code` the recovery code, if one is given.
        """
        with self._guard, self._lock():
            old, record, means = self._unlocked(), self._record(), self._means()
            new = MasterKey.new()
            change = MasterChange(old=old, new=new, record=holders.keep_beside(record, old, new, means), recovery=None)
            try:
                self.place.write(lambda tx: self._replace_master(tx, change))
            except BaseException:
                holders.drop_others(self._record(), means)
                raise
            self._master = new
            holders.drop_others(change.record, means)
        self.place.empty_log("the new master key is recorded and the old one deleted")
        if code is None:
            return change
        from recollectum.home.keys.recovery import wrap_master  # noqa: PLC0415 - few homes change their key

        return replace(change, recovery=(wrap_master(code, new, means.home_id), self._clock()))

    def find_master_change(self) -> MasterChange | None:
        """Return the change of the master key that was interrupted."""
        secret = self._find(self._old_master) if self.place.is_open else None
        if secret is None:
            return None
        return MasterChange(old=MasterKey(secret), new=self._unlocked(), record=self._record(), recovery=None)

    def finish_master(self, change: MasterChange) -> None:
        """Delete the old master key and every byte of it; store the recovery code that the change has."""

        def finish(tx: Tx) -> None:
            remove_key(tx, self._old_master)
            if change.recovery:
                save_recovery(tx, *change.recovery)

        self.place.write(finish, frees=True)
        self.place.empty_log("the old master key is deleted")

    @property
    def _old_master(self) -> str:
        return f"{_OLD_MASTER}:{self.place.host}" if self.place.host else _OLD_MASTER

    def settle_holder(self) -> None:
        """Delete a second key that an interrupted change of the master key left with the holder."""
        if not self.place.is_open or not self._holds_several:
            return
        lock = self._lock()
        if lock.wait(timedelta()):
            try:
                # Under the lock: a change that is going on needs both keys.
                holders.drop_others(self._record(), self._means())
                self._holds_several = False
            finally:
                lock.release()

    def _replace_master(self, tx: Tx, change: MasterChange) -> None:
        found = find_holder(tx, self.place.words)
        if found is None or found.fingerprint != change.old.fingerprint():
            raise KeyProblem(f"the master key in {self.place.words} was changed meanwhile; try again")
        if unfinished := [name for name in names_of_keys(tx) if name.startswith(_OLD_MASTER)]:
            where = "the home" if unfinished == [self._old_master] else "the home of the host that began it"
            raise KeyProblem(
                f"an earlier change of the master key is not finished ({unfinished[0]}); open {where} again, "
                "then try again"
            )
        rewrap(tx, change, self.place.words, self._clock())
        wrapped = change.old.wrapped_by(wrapping_key(change.new), label(self._old_master))
        add_key(tx, self._old_master, wrapped, self._clock())
