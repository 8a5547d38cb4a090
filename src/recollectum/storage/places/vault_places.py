"""Knows where the catalog and each vault of a home are: in its files, or in one of two databases.

A home has at most two places at a time. One of them has the catalog; it says of each vault whether that is beside it or
in the other one. A home whose vaults are all in one place asks the catalog nothing: the files of the home say whether
there may be two. The catalog can be moved while this is in use; then the place of the catalog changes here too.
"""

from collections.abc import Callable
from dataclasses import field

from recollectum.domain.errors import StorageError
from recollectum.domain.records import dataclass
from recollectum.home.paths import Home
from recollectum.settings.storage import StorageSettings
from recollectum.storage.engine import CATALOG, Engine
from recollectum.storage.port import Database, Tx
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.tables.catalog import catalog_changes, vaults
from recollectum.storage.tables.catalog.vaults import StoragePlace


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """The files of a home, or a database."""

    kind: StoragePlace
    #: The address of the database; empty for files.
    url: str = field(default="", repr=False)


FILES = NamedPlace(StoragePlace.FILES)


def place_at(url: str) -> NamedPlace:
    """Return the place with this address; an empty one is that of files."""
    return NamedPlace(StoragePlace.DATABASE, url) if url else FILES


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePlaces:
    """A home, where its catalog seems to be, and the means to reach each place."""

    home: Home
    catalog: NamedPlace
    #: Returns the engine of a place; the first call creates it.
    engine: Callable[[NamedPlace], Engine]
    #: Reads the settings again: another program may have set an address since.
    settings: Callable[[], StorageSettings]


class VaultPlaces:
    """The places of the catalog and of the vaults of one home."""

    def __init__(self, places: HomePlaces) -> None:
        self.home = places.home
        self.at = places.engine
        self._files = HomeFiles(places.home)
        self._settings = places.settings
        #: Where the catalog is.
        self.beside = places.catalog
        #: The catalog that was opened last.
        self.catalog: Database | None = None

    @property
    def main(self) -> Engine:
        """Return the engine of the catalog."""
        return self.at(self.beside)

    @property
    def other(self) -> NamedPlace:
        """Return the place beside that of the catalog, whether or not there are vaults."""
        if self.beside == FILES or self.home.split_mark_file.exists():
            return next(iter(self._databases()), FILES)
        return FILES

    def known(self) -> list[NamedPlace]:
        """Return all places where the catalog may be by the settings and the files of the home."""
        found = self._settings()
        listed = [place_at(url) for url in (found.url, found.second_url) if url]
        return [*dict.fromkeys(listed), *([FILES] if self._files.catalog.exists() else [])]

    def is_split(self) -> bool:
        """Return whether vaults may be in the other place."""
        return self.home.split_mark_file.exists() or (self.beside != FILES and bool(self._files.vaults()))

    def find(self, vault_id: str) -> NamedPlace:
        """Return the place of a vault."""
        return self.listed(vault_id) if self.is_split() else self.beside

    def listed(self, vault_id: str) -> NamedPlace:
        """Return the place of a vault as the catalog has it."""
        if vault_id == CATALOG or self.catalog is None:
            return self.beside
        while True:
            beside = self.beside
            kind = self.catalog.read(lambda tx: vaults.find_place(tx, vault_id))
            # What the catalog says is meant from where it is, and it may have been moved while it was read.
            if self.beside == beside:
                return self._named(kind)

    def all_listed(self) -> dict[str, NamedPlace]:
        """Return the places of all vaults as the catalog has them."""
        if self.catalog is None:
            return {}
        while True:
            beside = self.beside
            ids, kinds = self.catalog.read(lambda tx: (vaults.ids(tx), vaults.places(tx)))
            if self.beside == beside:
                return {one: self._named(kinds.get(one)) for one in ids}

    def engine_of(self, vault_id: str) -> Engine:
        """Return the engine that has a vault."""
        return self.at(self.find(vault_id))

    def settle(self, vault_id: str, left: NamedPlace) -> NamedPlace:
        """Return where a vault is that was marked as moved: the copy was complete before the mark was made.

        A program that was killed after the mark did not tell the catalog; then this one does.
        """
        found = self.listed(vault_id)
        if found == left and self.catalog is not None:
            found = self._holder(vault_id, left)
            self.record(self.catalog, vault_id, found)
        return found

    def record(self, catalog: Database, vault_id: str, place: NamedPlace) -> None:
        """Record in the catalog where a vault is."""

        def change(tx: Tx) -> None:
            # Decided in the transaction: nobody moves the catalog before it ends.
            vaults.change_place(tx, vault_id, None if place == self.beside else place.kind)
            catalog_changes.count(tx)

        catalog.write(change)

    def is_in_another_home(self, vault_id: str) -> bool:
        """Return whether a vault that the catalog of a database has in files is not in those of this home."""
        return self.beside != FILES and not self._files.vault(vault_id).exists()

    def _named(self, kind: StoragePlace | None) -> NamedPlace:
        if kind is None or kind is StoragePlace.FILES:
            return self.beside if kind is None else FILES
        for place in self._databases():
            return place
        setting = "storage.url" if self.beside == FILES else "storage.second_url"
        raise StorageError(
            f"a vault of {self.home.root} is in another PostgreSQL database, but {setting} is not set; set it to its "
            "address"
        )

    def _databases(self) -> list[NamedPlace]:
        """Return the databases that the settings name, except that of the catalog.

        None if the settings name the catalog's nowhere: the address is from before an earlier move.
        """
        listed = [place for place in self.known() if place != FILES]
        return [place for place in listed if place != self.beside] if self.beside in (FILES, *listed) else []

    def _holder(self, vault_id: str, left: NamedPlace) -> NamedPlace:
        """Return the place that has a vault, other than the one that it left."""
        places = [place for place in (self.beside, self.other, *self._databases(), FILES) if place != left]
        return next((place for place in places if self.at(place).place_of(vault_id)), places[-1])
