"""Gives a purge the parts of the home it touches."""

import hmac
import secrets
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import HomeError, KeyProblem, StorageError
from recollectum.domain.ids import Clock
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.storage.engine import CATALOG, Engine
from recollectum.storage.keystore import KeyStore
from recollectum.storage.port import Database, Tx
from recollectum.storage.shared.shared_lock import SharedLock
from recollectum.storage.tables.catalog import backups_elsewhere, hosts
from recollectum.storage.tables.erasure import erased
from recollectum.vault.files.file_host import FileHost, SharedHosts
from recollectum.vault.purge.samples import ErasureSamples

if TYPE_CHECKING:
    from recollectum.storage.shared.home_ledger import HomeLedger

_SALT = "salt"
_SEED = "signing"
_SECRET_BYTES = 32
_DIGEST_BYTES = 16


class PurgeEnvironment(NamedTuple):
    """The parts of one home that a purge touches."""

    home: Home
    engine: Engine
    catalog: Database
    keys: KeyStore
    clock: Clock
    #: Samples of what purges of this process erased, until the files are searched.
    needles: dict[str, ErasureSamples]
    #: Gives the vault of an owner a new key, and destroys the old one.
    rekey: Callable[[Owner], object]
    #: Days for which a database server keeps deleted rows in its log and backups; None where vaults are files.
    remains_days: int | None = None
    #: This host among those that use the same database; None where there are no others.
    hosts: SharedHosts | None = None

    def has_ledger(self) -> bool:
        """Return whether anything was ever erased in this home."""
        return self.catalog.read(lambda tx: erased.find_secret(tx, _SALT)) is not None

    def lock(self, vault_id: str) -> SharedLock:
        """Allow one purge of a vault at a time, across all processes and hosts."""
        name = f"purge-{vault_id}"
        local = Lock(self.home.locks / f"{name}.lock", clock=self.clock)
        if self.hosts is None:
            return SharedLock(local, name, None, self.clock)
        return SharedLock(local, name, self.hosts.catalog, self.clock, host=self.hosts.here.id)

    def salt(self) -> bytes:
        """Return the key of the ledger's digests."""
        return self._secret(_SALT)

    def keep_salt(self, tx: Tx, salt: bytes) -> None:
        """Store the key of the ledger's digests in a copy of the catalog from before it was made."""
        erased.secret(tx, _SALT, salt)

    def outline_key(self, purge_id: str) -> bytes:
        """Return the key of the outlines that are kept of a purge's samples."""
        return hmac.digest(self.salt(), f"outlines {purge_id}".encode(), "sha256")

    def vault_keys(self) -> dict[str, bytes]:
        """Return the keys of the catalog and of every vault of this home; none when it is not encrypted."""
        named = (CATALOG, *self.engine.vault_ids())
        return {one: self.keys.key(one) for one in named if self.keys.has_key(one)}

    def seed(self) -> bytes:
        """Return the secret that signs receipts."""
        return self._secret(_SEED)

    def _secret(self, name: str) -> bytes:
        known = self.catalog.read(lambda tx: erased.find_secret(tx, name))
        if known is None:
            # A catalog that was put back while this process runs; a second secret would fit no earlier record.
            open_ledger(self)
            known = self.catalog.read(lambda tx: erased.find_secret(tx, name))
        if known is not None:
            return known
        return self.catalog.write(lambda tx: erased.secret(tx, name, secrets.token_bytes(_SECRET_BYTES)), frees=True)

    def backups_elsewhere(self, vault_ids: Collection[str]) -> tuple[str, ...]:
        """Return the backups that were made outside the folder of backups and hold one of these vaults, in words."""
        found = self.catalog.read(lambda tx: backups_elsewhere.of(tx, vault_ids))
        return tuple(f"{one.place} (made {one.made_at:%Y-%m-%d %H:%M} UTC)" for one in found)

    def places_elsewhere(self, vault_ids: Collection[str], *, with_keys: bool = False) -> tuple[str, ...]:
        """Return those backups, and what else may hold what is erased; `with_keys` if the keys are destroyed too."""
        backups = self.backups_elsewhere(vault_ids)
        if with_keys and self.keys.enabled:
            backups = tuple(f"{one}, with the keys of its time, which open older copies too" for one in backups)
        if self.remains_days is None:
            return backups
        form = "ciphertext" if self.keys.enabled else "plain text"
        form += " whose key is destroyed" if self.keys.enabled and with_keys else ""
        until = f"until {self.clock() + timedelta(days=self.remains_days):%Y-%m-%d}"
        places = f"{self.engine.place_of_server}: dead rows, the log of changes, standbys and base backups"
        files = self._files_elsewhere(vault_ids, whole=with_keys)
        return (
            *backups,
            *files,
            *(self._keys_elsewhere(until) if with_keys else ()),
            f"{places}, as {form}, {until}",
        )

    def _keys_elsewhere(self, until: str) -> tuple[str, ...]:
        """Return what may still have the wrapped key that is destroyed, in words."""
        if not self.keys.place.is_shared or self.hosts is None:
            return ()
        here = self.hosts.here.id
        others = (one.name for one in self.catalog.read(hosts.everything) if one.id != here)
        return (
            f"{self.keys.place.words}: dead rows, the log of changes, standbys and backups, as a wrapped key, {until}",
            *(
                f"backups in the home of the host {name}, with the keys of their time, if there are any"
                for name in others
            ),
        )

    def _files_elsewhere(self, vault_ids: Collection[str], *, whole: bool) -> tuple[str, ...]:
        """Return the files of these vaults on other hosts, in words: they are out of reach from here."""
        if self.hosts is None:
            return ()
        if whole:
            here = self.hosts.here.id
            others = (one.name for one in self.catalog.read(hosts.everything) if one.id != here)
            return tuple(
                f"the owner's LEARNINGS.md and MEMORY.md on the host {name}, if there are any" for name in others
            )
        keepers = {FileHost(one, self.hosts).elsewhere(found=False) for one in vault_ids}
        names = sorted(filter(None, keepers))
        return tuple(f"LEARNINGS.md on the host {name}, until it is synced there" for name in names)

    def backups_of(self, vault_ids: Iterable[str]) -> list[Path]:
        """Return the copies of vaults from before migrations, from repairs and restores, and in backups of the home."""
        # Imported in each method: every home has an environment, and few erase anything.
        from recollectum.vault.purge.backups import copies_of  # noqa: PLC0415

        return copies_of(self.home.backups, vault_ids)

    def destroy_backups(
        self,
        vault_ids: Iterable[str],
        before: datetime | None = None,
        change: Callable[[Tx], None] | None = None,
        *,
        with_keys: bool = False,
    ) -> int:
        """Destroy those copies, or those from before a time; `change` deletes a person from the catalogs in backups.

        With `with_keys` the keys of these vaults are deleted from all backups, because they were replaced.
        """
        from recollectum.vault.purge.backups import CatalogChange, destroy_copies  # noqa: PLC0415

        key = self.keys.key(CATALOG) if self.keys.has_key(CATALOG) else None
        catalog = CatalogChange(change, key, self.clock) if change else None
        manifest_key = self.keys.manifest_key() if self.keys.enabled else None
        ids = tuple(vault_ids)
        return destroy_copies(self.home.backups, ids, before, catalog, manifest_key, with_keys=with_keys)

    def erased_until(self, vault_id: str) -> datetime | None:
        """Return when something was last erased from a vault."""
        return self.catalog.read(lambda tx: erased.last_time(tx, vault_digest(self.salt(), vault_id)))


def check_keys(home: PurgeEnvironment) -> None:
    """Raise where the keys are away: nothing is begun that could not be finished."""
    home.keys.has_key(CATALOG)


def sync_ledger(home: PurgeEnvironment) -> None:
    """Keep the ledger with the keys too, where the catalog may be put back from a server's backup."""
    if home.remains_days is not None:
        _ledger_file(home).sync(home.catalog)


def open_ledger(home: PurgeEnvironment) -> bool:
    """Add to the catalog what only the ledger with the keys knows; return whether anything was ever erased."""
    ledger = _ledger_file(home) if home.remains_days is not None else None
    if ledger and ledger.exists() and not ledger.is_current(home.catalog):
        ledger.sync(home.catalog)
    has_ledger = home.has_ledger()
    if ledger and has_ledger and not ledger.exists():
        # A disk that takes no writes must not prevent reading: the catalog has it all.
        with suppress(StorageError, HomeError, OSError):
            ledger.sync(home.catalog)
    return has_ledger


def _ledger_file(home: PurgeEnvironment) -> "HomeLedger":
    # Imported here: most homes are files.
    from recollectum.storage.shared.home_ledger import HomeLedger  # noqa: PLC0415

    key = home.keys.key(CATALOG) if home.keys.has_key(CATALOG) else None
    return HomeLedger(home.home, home.keys.place, key, home.clock)


def replace_key(home: PurgeEnvironment, owner: Owner | None, vault_id: str) -> bytes:
    """Give the vault of an owner a new key, and return the old one, which is destroyed."""
    if owner is None:
        raise KeyProblem("this vault has no owner, so it gets no new key; purge without shredding")
    old = home.keys.key(vault_id)
    home.rekey(owner)
    return old


def unreadable_copies(home: PurgeEnvironment) -> tuple[str, ...]:
    """Return the older copies of a vault that nobody can read once its key is destroyed, in words."""
    if not home.keys.enabled:
        return ()
    if home.remains_days is None:
        return ("copies of the vault's file that Recollectum did not make, such as snapshots of the disk",)
    place = home.engine.place_of_catalog
    return (f"the rows of this vault in dead rows, the log of changes, standbys and older base backups of {place}",)


def ledger_digest(salt: bytes, *parts: str) -> bytes:
    """Return the ledger's digest of a thing: without the salt nobody can tell what it was."""
    return hmac.digest(salt, "\x1f".join(parts).encode("utf-8", "surrogatepass"), "sha256")[:_DIGEST_BYTES]


def vault_digest(salt: bytes, vault_id: str) -> bytes:
    """Return the ledger's digest of a vault."""
    return ledger_digest(salt, "vault", vault_id)


def find_vault_digest(catalog: Database, vault_id: str) -> bytes | None:
    """Return the ledger's digest of a vault; None in a home where nothing was ever erased."""
    salt = catalog.read(lambda tx: erased.find_secret(tx, _SALT))
    return None if salt is None else vault_digest(salt, vault_id)


def keep_vault_digest(tx: Tx, vault_id: str) -> bytes:
    """Return the ledger's digest of a vault, in a transaction of the catalog that may begin the ledger."""
    return vault_digest(erased.secret(tx, _SALT, secrets.token_bytes(_SECRET_BYTES)), vault_id)


def was_erased(catalog: Database, vault_id: str) -> bool:
    """Return whether a whole vault was erased from the home of this catalog."""
    noted = find_vault_digest(catalog, vault_id)
    if noted is None:
        return False
    return catalog.read(lambda tx: erased.is_noted(tx, noted, noted))


def owner_digest(salt: bytes, owner: Owner | str) -> str:
    """Return the digest of an owner for a receipt."""
    return ledger_digest(salt, "owner", str(owner)).hex()
