"""Finds the catalog of a home that was moved: of its places one has a catalog that is used.

The others have a mark: the catalog left, or a move is copying it. A move marks the place that it leaves when the copy
is complete. So where no catalog is used, the one that was copied becomes it, by whichever program comes first.
"""

from typing import cast

from recollectum.domain.errors import StorageError, Unreachable
from recollectum.storage.places.catalog_state import CatalogPlace, CatalogState, FoundCatalog
from recollectum.storage.places.file_moves import FileCatalog
from recollectum.storage.places.vault_places import FILES, NamedPlace, VaultPlaces


def catalog_at(places: VaultPlaces, place: NamedPlace, key: bytes | None) -> CatalogPlace:
    """Return the catalog of a place as one side of a move."""
    if place == FILES:
        return FileCatalog(places.home, key)
    # Import here: it needs the driver, which is an extra.
    from recollectum.storage.places.database_moves import DatabaseCatalog  # noqa: PLC0415
    from recollectum.storage.postgres.engine import PostgresEngine  # noqa: PLC0415

    return DatabaseCatalog(cast(PostgresEngine, places.at(place)), key)


def find_catalog(places: VaultPlaces, key: bytes | None) -> NamedPlace:
    """Return the place of the catalog that is used; finish a move that was decided."""
    found: dict[NamedPlace, FoundCatalog] = {}
    failure: Unreachable | None = None
    for place in places.known():
        try:
            found[place] = catalog_at(places, place, key).find()
        except Unreachable as error:
            failure = error
            continue
        if found[place].state is CatalogState.USED:
            return place
    if failure:
        raise failure
    left = {one.made for one in found.values() if one.state is CatalogState.GONE}
    for place, one in found.items():
        if one.state is CatalogState.COMING and one.made in left:
            catalog_at(places, place, key).enter()
            return place
    raise StorageError(
        f"the catalog of {places.home.root} was moved away from {places.main.place_of_catalog}; set storage.url, or "
        "storage.second_url, to the address of the database that has it now"
    )
