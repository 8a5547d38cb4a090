"""Bundles what home-wide maintenance needs: files, engine, keys, catalog, clock and the vaults that are open."""

from collections.abc import Sequence
from typing import Protocol

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import NotFound
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.logs import Log
from recollectum.home.paths import Home
from recollectum.storage.catalog_mark import CountedCatalog
from recollectum.storage.engine import CATALOG, Engine
from recollectum.storage.keystore import KeyStore
from recollectum.storage.tables.catalog import hosts, vaults
from recollectum.storage.tables.catalog.hosts import KnownHost
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.vault.files.file_host import SharedHosts


class OpenedVaults(Protocol):
    """The vaults that this process has open, such as those of a `HomeRuntime`."""

    @property
    def hosts(self) -> SharedHosts | None:
        """This host among those that use the same database; None where there are no others."""
        ...

    def release(self, vault_id: str) -> bool:
        """Close a vault in this process; True when no other process has it open either."""
        ...

    def settle_vault(self, entry: VaultEntry) -> None:
        """Erase again what was erased from a vault whose file was replaced, even if it is open already."""
        ...


class OpenedHome(OpenedVaults, Protocol):
    """An open home with its vaults, such as a `HomeRuntime`."""

    home: Home
    engine: Engine
    keys: KeyStore
    catalog: CountedCatalog
    clock: Clock
    log: Log


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeAdmin:
    """One open home, for the process owner."""

    home: Home
    engine: Engine
    keys: KeyStore
    catalog: CountedCatalog
    clock: Clock
    #: Receives what was done.
    log: Log
    opened: OpenedVaults

    def is_elsewhere(self, entry: VaultEntry) -> bool:
        """Return whether another host keeps the files of a vault."""
        shared = self.opened.hosts
        return shared is not None and entry.host not in (None, shared.here.id)

    def list_hosts(self) -> list[KnownHost]:
        """Return the hosts that keep files of vaults, or run a server, on the same database, by name."""
        return self.catalog.read(hosts.everything)

    def entries(self, owners: Sequence[Owner] | None = None) -> list[VaultEntry]:
        """Return the vaults of these owners, or all; raise for an owner without one."""
        if owners is None:
            return self.catalog.read(vaults.everything)
        found = [(owner, self.catalog.read(lambda tx, owner=owner: vaults.find(tx, owner))) for owner in owners]
        for owner, entry in found:
            if entry is None:
                raise NotFound(f"there is no vault of {str(owner)!r} here; see: recollectum users list")
        return [entry for _, entry in found if entry]

    def key_of(self, entry: VaultEntry) -> bytes | None:
        """Return the key of one vault; None when it is not encrypted."""
        return self.keys.key(entry.id) if entry.encrypted else None

    def catalog_key(self) -> bytes | None:
        """Return the key of the catalog; None when it is not encrypted."""
        return self.keys.key(CATALOG) if self.keys.has_key(CATALOG) else None


def admin_of(opened: OpenedHome) -> HomeAdmin:
    """Return what maintains an open home."""
    return HomeAdmin(
        home=opened.home,
        engine=opened.engine,
        keys=opened.keys,
        catalog=opened.catalog,
        clock=opened.clock,
        log=opened.log,
        opened=opened,
    )
