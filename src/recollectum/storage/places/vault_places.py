"""Knows where each vault of a home is: beside the catalog, or in the other place.

A home whose vaults are all in one place asks the catalog nothing: the files of the home say whether there may be two.
"""

from collections.abc import Callable, Mapping

from recollectum.domain.records import dataclass
from recollectum.home.paths import Home
from recollectum.storage.engine import CATALOG, Engine
from recollectum.storage.port import Database, Tx
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.tables.catalog import catalog_changes, vaults
from recollectum.storage.tables.catalog.vaults import StoragePlace


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePlaces:
    """The two places of one home, and where its catalog is."""

    home: Home
    catalog: StoragePlace
    #: Return the engine of each place; the first call creates it.
    engines: Mapping[StoragePlace, Callable[[], Engine]]


class VaultPlaces:
    """The places of the vaults of one home."""

    def __init__(self, places: HomePlaces) -> None:
        self._home = places.home
        self._files = HomeFiles(places.home)
        self._engines = places.engines
        #: Where the catalog is.
        self.beside = places.catalog
        #: The engine of the catalog.
        self.main = places.engines[places.catalog]()
        #: The catalog that was opened last.
        self.catalog: Database | None = None

    def is_split(self) -> bool:
        """Return whether vaults may be in the other place."""
        if self.beside is StoragePlace.FILES:
            return self._home.split_mark_file.exists()
        return bool(self._files.vaults())

    def at(self, place: StoragePlace) -> Engine:
        """Return the engine of a place."""
        return self.main if place is self.beside else self._engines[place]()

    def find(self, vault_id: str) -> StoragePlace:
        """Return the place of a vault."""
        return self.listed(vault_id) if self.is_split() else self.beside

    def listed(self, vault_id: str) -> StoragePlace:
        """Return the place of a vault as the catalog has it."""
        if vault_id == CATALOG or self.catalog is None:
            return self.beside
        return self.catalog.read(lambda tx: vaults.find_place(tx, vault_id)) or self.beside

    def engine_of(self, vault_id: str) -> Engine:
        """Return the engine that has a vault."""
        return self.at(self.find(vault_id))

    def settle(self, vault_id: str, left: StoragePlace) -> StoragePlace:
        """Return where a vault is that was marked as moved: the copy was complete before the mark was made.

        A program that was killed after the mark did not tell the catalog; then this one does.
        """
        found = self.listed(vault_id)
        if found is left and self.catalog is not None:
            found = left.other
            record_place(self.catalog, vault_id, found, self.beside)
        return found

    def is_in_another_home(self, vault_id: str) -> bool:
        """Return whether a vault that the catalog of a database has in files is not in those of this home."""
        return self.beside is StoragePlace.DATABASE and not self._files.vault(vault_id).exists()


def record_place(catalog: Database, vault_id: str, place: StoragePlace, beside: StoragePlace) -> None:
    """Record in the catalog, which is at `beside`, where a vault is."""

    def change(tx: Tx) -> None:
        vaults.change_place(tx, vault_id, None if place is beside else place)
        catalog_changes.count(tx)

    catalog.write(change)
