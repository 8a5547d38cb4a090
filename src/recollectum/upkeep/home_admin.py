"""Bundles what home-wide maintenance needs: files, keys, catalog, settings and clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import NotFound
from recollectum.domain.ids import Clock, IdMaker
from recollectum.home.locks import Lock
from recollectum.home.logs import Log
from recollectum.home.paths import Home
from recollectum.settings.model import Settings
from recollectum.storage.catalog_mark import CountedCatalog
from recollectum.storage.engine import CATALOG, Engine
from recollectum.storage.keystore import KeyStore
from recollectum.storage.tables.catalog import vaults
from recollectum.storage.tables.catalog.vaults import VaultEntry

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Embedder


def rekey_lock(home: Home) -> Lock:
    """Allow one change of keys at a time, across all processes; what replaces a vault's file takes it too."""
    return Lock(home.locks / "rekey.lock")


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeAdmin:
    """One open home, for the process owner."""

    home: Home
    engine: Engine
    settings: Settings
    keys: KeyStore
    catalog: CountedCatalog
    clock: Clock
    ids: IdMaker
    #: Receives what was done.
    log: Log = field(default_factory=Log)
    #: The embedder that all vaults share, or None and the reason.
    embedder: "Callable[[], tuple[Embedder | None, str | None]]" = lambda: (None, None)

    #: Erases again what was erased from a vault that was replaced.
    settle: Callable[[VaultEntry], None] = lambda _: None
    #: Closes a vault in this process; True when no other process has it open either.
    release: Callable[[str], bool] = lambda _: True

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
