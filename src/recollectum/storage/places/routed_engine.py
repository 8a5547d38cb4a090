"""Opens each vault where it is: beside the catalog, or in the other place."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Busy, Moved, StorageError
from recollectum.storage.engine import DatabaseServer, Engine, EngineUpkeep, VaultPlace
from recollectum.storage.places.followed_database import FollowedDatabase
from recollectum.storage.places.vault_places import FILES, NamedPlace, VaultPlaces
from recollectum.storage.port import Database

T = TypeVar("T")
#: How often a vault is looked for while others move it.
_MOST = 5


class RoutedEngine:
    """The catalog and the vaults of one home; see `storage.engine.Engine`."""

    def __init__(self, places: VaultPlaces) -> None:
        self.places = places
        #: Where this process created vaults that it has not opened: the catalog may be elsewhere by now.
        self._created: dict[str, NamedPlace] = {}

    @property
    def _main(self) -> Engine:
        return self.places.main

    @property
    def upkeep(self) -> EngineUpkeep:
        """Return the object that copies, verifies and repairs databases."""
        if not self.places.is_split():
            return self._main.upkeep
        # Import here: few homes have vaults in two places.
        from recollectum.storage.places.routed_upkeep import RoutedUpkeep  # noqa: PLC0415

        other, files = self.places.at(self.places.other), self.places.at(FILES)
        return RoutedUpkeep(self._main, other, files, self.places.engine_of)

    @property
    def server(self) -> DatabaseServer | None:
        """Return the server that has vaults of this home; None for files."""
        return self._at_server.server

    @property
    def place_of_catalog(self) -> str:
        """Return the location of the catalog in words."""
        return self._main.place_of_catalog

    @property
    def place_of_server(self) -> str | None:
        """Return the addresses of the servers that have vaults of this home; None for files."""
        engines = [self._main, *([self.places.at(self.places.other)] if self.places.is_split() else [])]
        return " and ".join(engine.place_of_server for engine in engines if engine.place_of_server) or None

    @property
    def _at_server(self) -> Engine:
        is_other = self.places.beside == FILES and self.places.is_split()
        return self.places.at(self.places.other) if is_other else self._main

    @property
    def counts_writes(self) -> bool:
        """Return whether the catalog knows the write marks of all vaults."""
        return self._main.counts_writes and not self.places.is_split()

    def is_made(self) -> bool:
        """Return whether the catalog exists."""
        return self._main.is_made()

    def with_room(self, opening: Callable[[], T]) -> T:
        """Return the result of `opening`; on a full disk, free the reserve for it first."""
        return self._main.with_room(opening)

    def create_catalog(self, key: bytes | None) -> Database:
        """Create the catalog, or finish one that was half created."""
        return self._followed(self._main.create_catalog(key), key)

    def open_catalog(self, key: bytes | None) -> Database:
        """Return the existing catalog, at this program's schema, and follow it when it is moved."""
        return self._followed(self._main.open_catalog(key), key)

    def _followed(self, catalog: Database, key: bytes | None) -> Database:
        at = [self.places.beside]

        def reopen() -> Database:
            # Import here: few catalogs are moved.
            from recollectum.storage.places.catalog_finding import find_catalog  # noqa: PLC0415

            found = find_catalog(self.places, key)
            if found == at[0]:
                raise StorageError(f"{self.place_of_catalog} was replaced while it was open; open the home again")
            opened = self.places.at(found).open_catalog(key)
            self.places.beside = at[0] = found
            return opened

        followed = self.places.catalog = FollowedDatabase(catalog, reopen)
        return followed

    def create_vault(self, vault_id: str, owner: Owner, key: bytes | None, meta: Mapping[str, str]) -> None:
        """Create a vault beside the catalog."""
        place = self._created[vault_id] = self.places.beside
        self.places.at(place).create_vault(vault_id, owner, key, meta)

    def open_vault(
        self, vault_id: str, owner: Owner, key: bytes | None, renew: Callable[[], bytes] | None = None
    ) -> Database:
        """Open an existing vault of this owner where it is, and follow it when it is moved."""
        self._created.pop(vault_id, None)
        opened = self._open_vault(vault_id, owner, key, renew)
        return FollowedDatabase(
            opened, lambda: self._open_vault(vault_id, owner, renew() if renew and key else key, renew)
        )

    def _open_vault(
        self, vault_id: str, owner: Owner, key: bytes | None, renew: Callable[[], bytes] | None
    ) -> Database:
        place = self.places.find(vault_id)
        for _ in range(_MOST):
            try:
                return self.places.at(place).open_vault(vault_id, owner, key, renew)
            except Moved:
                place = self.places.settle(vault_id, place)
            except StorageError:
                found = self.places.listed(vault_id)
                if found == place:
                    self._explain(vault_id, place)
                    raise
                # It was moved after the catalog was read.
                place = found
        raise Busy(f"the vault {vault_id} is being moved; try again when that is done")

    def _explain(self, vault_id: str, place: NamedPlace) -> None:
        if place == FILES and self.places.is_in_another_home(vault_id):
            raise StorageError(
                f"the vault {vault_id} was moved to the files of another home that uses {self.place_of_catalog}; "
                "use that home, or move the vault to the database there"
            ) from None

    def pending_steps(self, vault_id: str, key: bytes | None) -> tuple[str, ...]:
        """Return the schema steps that opening a vault would run, without changing anything."""
        return self.places.engine_of(vault_id).pending_steps(vault_id, key)

    def vault_ids(self) -> list[str]:
        """Return the ids of all existing vaults in both places."""
        if not self.places.is_split():
            return self._main.vault_ids()
        return sorted({*self._main.vault_ids(), *self.places.at(self.places.other).vault_ids()})

    def place_of(self, vault_id: str) -> VaultPlace | None:
        """Return the location of a vault, or None when it does not exist."""
        return self.places.engine_of(vault_id).place_of(vault_id)

    def is_unused(self, vault_id: str, key: bytes | None) -> bool:
        """Return whether no other process has a vault, or the catalog, open."""
        return self.places.engine_of(vault_id).is_unused(vault_id, key)

    def destroy_vault(self, vault_id: str, destroy_key: Callable[[], object] = lambda: None) -> None:
        """Delete a vault, if it exists, with what a move left in the other place."""
        created = self._created.pop(vault_id, self.places.beside)
        if created != self.places.beside:
            self.places.at(created).destroy_vault(vault_id)
        if self.places.is_split():
            other, last = self.places.at(self.places.other), destroy_key
            destroy_key = lambda: other.destroy_vault(vault_id, last)  # noqa: E731 - inside: both are barred first
        self._main.destroy_vault(vault_id, destroy_key)

    def write_marks(self, vault_ids: Iterable[str], settling: timedelta) -> dict[str, str]:
        """Return a mark for each vault; while it is equal and settled, nothing was written."""
        if not self.places.is_split():
            return self._main.write_marks(vault_ids, settling)
        listed = self.places.all_listed()
        by_place: dict[NamedPlace, list[str]] = {}
        for vault_id in vault_ids:
            by_place.setdefault(listed.get(vault_id, self.places.beside), []).append(vault_id)
        found: dict[str, str] = {}
        for place, there in by_place.items():
            found |= self.places.at(place).write_marks(there, settling)
        return found
