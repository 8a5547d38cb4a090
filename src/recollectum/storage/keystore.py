"""Stores the key of each vault in keys.db, wrapped by a key derived from the home's master key."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from recollectum.domain.errors import Conflict, Damaged, KeyProblem, KeyStoreMissing
from recollectum.domain.ids import Clock, IdMaker, system_clock
from recollectum.home.keys import holders
from recollectum.home.keys.holders import HolderKind, HolderOptions, HolderRecord, KeyHolder
from recollectum.home.keys.wrapping import MasterKey, new_key
from recollectum.home.paths import Home
from recollectum.storage.key_database import KeyInputs
from recollectum.storage.key_renewal import KeyRenewal, manifest_key, names_of
from recollectum.storage.key_tables import (
    add_key,
    create_tables,
    find_holder,
    find_key,
    find_recovery,
    remove_key,
    save_holder,
    save_recovery,
    tables_exist,
)
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.sqlite.recovery.log_check import open_database


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
    ) -> "KeyStore":
        """Return the key store of the home; create it when there is none and encryption is on.

        Opening needs no master key, so that a person who lost it can still ask who holds it, recover it, or destroy a
        vault. `unlock`, and every call that needs the key, raises KeyProblem when the key is not available.
        """
        given = passphrase or environ.get(holders.PASSPHRASE_VARIABLE) or None
        store = cls(home, KeyInputs(key_file=key_file, passphrase=given, environ=environ), clock)
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
        key = self._find(vault_id)
        if key is None:
            raise KeyProblem(
                f"there is no key for vault {vault_id!r} in {self._files.keys}: it was destroyed, or the file "
                "is older than the vault; restore keys.db from a later backup"
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
        removed = self._write(lambda tx: any([remove_key(tx, name) for name in names_of(vault_id)]), frees=True)
        # Also when there was no key: an earlier attempt may have stopped before it emptied the log.
        if used:
            self._empty_log(f"the key of vault {vault_id!r} is deleted")
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
        with self._guard, self._lock():
            master = self._unlocked()
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
