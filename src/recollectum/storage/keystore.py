"""Stores the key of each vault, wrapped by a key derived from the home's master key."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from recollectum.domain.errors import Conflict, KeyProblem
from recollectum.domain.ids import Clock, system_clock
from recollectum.home.keys import holders
from recollectum.home.keys.holders import HolderKind, HolderOptions, HolderRecord, KeyHolder
from recollectum.home.keys.wrapping import MasterKey, new_key
from recollectum.home.paths import Home
from recollectum.settings.storage import StorageSettings
from recollectum.storage.key_database import KeyInputs
from recollectum.storage.key_renewal import KeyRenewal, manifest_key, names_of
from recollectum.storage.key_tables import add_key, find_key, find_recovery, remove_key, save_holder, save_recovery
from recollectum.storage.shared.choosing import find_key_place


class KeyStore(KeyRenewal):
    """The wrapped keys of one home. It asks the holder for the master key once, when the key is first needed."""

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
        storage: StorageSettings | None = None,
    ) -> "KeyStore":
        """Return the key store of the home; create it when there is none and encryption is on.

        It is in a file of the home, or where the settings of the storage say.

        Opening needs no master key, so that a person who lost it can still ask who holds it, recover it, or destroy a
        vault. `unlock`, and every call that needs the key, raises KeyProblem when the key is not available.
        """
        given = passphrase or environ.get(holders.PASSPHRASE_VARIABLE) or None
        place = find_key_place(home, storage, clock)
        store = cls(home, place, KeyInputs(key_file=key_file, passphrase=given, environ=environ), clock)
        try:
            if not place.open() and encryption != "off":
                store._create()
        except BaseException:
            store.close()
            raise
        return store

    @property
    def enabled(self) -> bool:
        """Return whether a key store exists; False when encryption is off and none was ever made."""
        return self.place.is_open

    def unlock(self) -> None:
        """Ask the holder for the master key now, to fail early."""
        self._unlocked()

    def holder(self) -> KeyHolder:
        """Return the holder of the master key in plain words."""
        if not self.enabled:
            return holders.OFF
        made = self.place.read(find_recovery)
        holder = holders.describe(self._record(), self._means(), made[1] if made else None)
        return replace(holder, keys=self.place.words) if self.place.is_shared else holder

    def has_key(self, vault_id: str) -> bool:
        """Return whether a vault has a key."""
        return self.enabled and self.place.read(lambda tx: find_key(tx, vault_id)) is not None

    def key(self, vault_id: str) -> bytes:
        """Return the key of one vault; raise KeyProblem when there is none."""
        key = self._find(vault_id)
        if key is None:
            raise KeyProblem(
                f"there is no key for vault {vault_id!r} in {self.place.words}: it was destroyed, or the keys are from "
                f"before the vault; restore {self.place.name} from a later backup"
            )
        return key

    def make_key(self, vault_id: str) -> bytes:
        """Create and durably store a random key for a vault; raise Conflict when it already has one."""
        key = new_key()
        if not self._store(vault_id, key, lambda tx, wrapped: add_key(tx, vault_id, wrapped, self._clock())):
            raise Conflict(f"vault {vault_id!r} has a key already; use it, or destroy it first")
        return key

    def destroy_key(self, vault_id: str, *, used: bool = True) -> bool:
        """Delete the key of a vault and every byte of it in the file and its log; return False when there was none.

        The bytes of a key that encrypted nothing yet may stay in the log, which others may be reading.
        """
        if not self.enabled:
            return False
        removed = self.place.write(lambda tx: any([remove_key(tx, name) for name in names_of(vault_id)]), frees=True)
        # Also when there was no key: an earlier attempt may have stopped before it emptied the log.
        if used:
            self.place.empty_log(f"the key of vault {vault_id!r} is deleted")
        return removed

    def manifest_key(self) -> bytes:
        """Return the key that authenticates the manifests of backups."""
        return manifest_key(self._unlocked())

    def new_recovery_code(self) -> str:
        """Return a new recovery code for the master key, shown only now; the previous code no longer works."""
        from recollectum.home.keys import recovery  # noqa: PLC0415 - a code is made once in the life of a home

        code = recovery.new_code()
        # The lock: a code for a master key that another process replaces now would open nothing.
        with self._guard, self._lock():
            wrapped = recovery.wrap_master(code, self._unlocked(), self._means().home_id)
            self.place.write(lambda tx: save_recovery(tx, wrapped, self._clock()))
        self.place.empty_log("the new recovery code is recorded and the old one deleted")
        return code

    def recover(self, code: str, *, passphrase: str | None = None) -> KeyHolder:
        """Give the master key to a holder on this machine: the passphrase if one is given, else the default choice.

        The previous holder is left alone: it is lost, broken, or on another machine.
        """
        from recollectum.home.keys import recovery  # noqa: PLC0415 - few homes are ever recovered

        with self._guard, self._lock():
            found = self.place.read(find_recovery)
            if found is None:
                raise KeyProblem("no recovery code was made for this home; only the recorded holder can open it")
            means = replace(self._means(), passphrase=passphrase or None)
            master, kind = recovery.unwrap_master(code, found[0], means.home_id), holders.choose(means)
            # Other hosts go on with the holder that is recorded, and this one finds its own; a passphrase is recorded.
            self._hand_over(master, kind, means, records=not self.place.is_shared or kind is HolderKind.PASSPHRASE)
        return self.holder()

    def hold_by(self, kind: HolderKind, *, passphrase: str | None = None, key_file: str = "") -> KeyHolder:
        """Move the master key to another holder, or change its passphrase; drop the old holder last."""
        with self._guard, self._lock():
            master = self._unlocked()
            old, old_means = self._record(), self._means()
            means = replace(old_means, passphrase=passphrase or None, key_file=key_file or old_means.key_file)
            new = self._hand_over(master, kind, means)
            if not holders.same_place(old, new):
                holders.drop(old, old_means)
        return self.holder()

    def close(self) -> None:
        """Forget the master key and close the key store; calling it again does nothing."""
        with self._guard:
            self._master = None
            self.place.close()

    def _create(self) -> None:
        with self._lock():
            # Another process may have created it while this one waited.
            if self.place.open():
                return
            self.place.create()
            # Write nothing that the master key wraps before the holder has proved that it keeps the key.
            record, master = holders.establish(self._means())
            self.place.write(lambda tx: save_holder(tx, record, self._clock()))
            self.place.open()
            self._master = master

    def _hand_over(
        self, master: MasterKey, kind: HolderKind, means: HolderOptions, *, records: bool = True
    ) -> HolderRecord:
        """Give the key to a holder, and record the holder only after that."""
        record = holders.keep(kind, master, means)
        if records:
            self.place.write(lambda tx: save_holder(tx, record, self._clock()))
        self._known = None
        self._offer = replace(self._offer, passphrase=means.passphrase, key_file=means.key_file)
        self._master = master
        # The previous row may be a wrap under an old passphrase.
        self.place.empty_log("the new holder is recorded and the old record deleted")
        return record
