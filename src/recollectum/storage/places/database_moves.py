"""Makes the vaults and the catalog of a database one side of a move: marks them, and keeps their numbers."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from recollectum.domain.errors import Conflict
from recollectum.storage.copying.row_copier import CopiedTable
from recollectum.storage.places.catalog_state import CatalogState, FoundCatalog
from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres import vault_rows
from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.tables.catalog import catalog_changes, vaults


class DatabaseMoves:
    """The vaults of one database; see `storage.places.vault_move.Moves`."""

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine

    def mark_moved(self, tx: Tx) -> None:
        """Mark the vault in the transaction that ends its move: nobody finds its number any more."""
        vault_rows.mark_moved(tx)

    def is_moved(self, vault_id: str, key: bytes | None) -> bool:  # noqa: ARG002 - the mark is not encrypted
        """Return whether a vault was moved away, and its rows are still there."""
        catalog = self._engine.open_catalog(None, moved=True)
        try:
            vault = catalog.read(lambda tx: vault_rows.find(tx, vault_id))
        finally:
            catalog.close()
        return vault is not None and vault < 0

    def clear(self, vault_id: str, key: bytes | None, now: datetime, patience: timedelta) -> Path | None:  # noqa: ARG002
        """Delete the rows of a vault; programs that have it open are told by their next transaction."""
        self._engine.destroy_vault(vault_id)
        return None

    def others_wrote(self, tx: Tx) -> int | None:  # noqa: ARG002 - see below
        """Return None: each write counts, also the one that asks."""
        return None

    def last_numbers(self, tx: Tx) -> dict[str, int]:
        """Return the highest number ever used, by table."""
        return vault_rows.last_numbers(tx)

    def keep_last_numbers(self, tx: Tx, numbers: Mapping[str, int], tables: Sequence[CopiedTable]) -> None:
        """Use none of these numbers again."""
        names = {table.name for table in tables}
        vault_rows.keep_last_numbers(tx, {name: last for name, last in numbers.items() if name in names})


class DatabaseCatalog:
    """The catalog in a database; see `storage.places.catalog_state.CatalogPlace`.

    One that is not used has a negative number of changes: -1 less the number. That of missing changes is negative too
    while the catalog is copied.
    """

    def __init__(self, engine: PostgresEngine, key: bytes | None) -> None:
        self._engine = engine
        self._key = key

    def find(self) -> FoundCatalog:
        """Return what it is."""
        catalog = self.opened()
        try:
            return _found(catalog.read(catalog_changes.state))
        finally:
            catalog.close()

    def prepare(self, room: Path) -> None:  # noqa: ARG002 - the schema is there
        """Let it be one that is copied; refuse one that is used by another home."""
        catalog = self.opened()
        try:
            catalog.write(self._begin)
        finally:
            catalog.close()

    def _begin(self, tx: Tx) -> None:
        found = _found(catalog_changes.state(tx))
        if found.state is CatalogState.USED and (found.made or vaults.ids(tx)):
            raise Conflict(f"{self._engine.place_of_catalog} has the catalog of another home; name an empty database")
        catalog_changes.take_over(tx, -1, -1)

    def opened(self) -> Database:
        """Open it, whatever it is."""
        return self._engine.open_catalog(self._key, moved=True)

    def save_changes(self, tx: Tx, made: int, missing: int) -> None:
        """Take over how many changes were made."""
        catalog_changes.take_over(tx, -1 - made, -1 - missing)

    def leave(self, tx: Tx) -> None:
        """Mark it as moved away; claims, which do not wait for other writers, wait for this transaction."""
        vault_rows.bar_claims(tx)
        made, missing = catalog_changes.state(tx)
        catalog_changes.take_over(tx, -1 - made, missing)

    def enter(self) -> None:
        """Let a copied one be used."""
        catalog = self.opened()
        try:
            catalog.write(_enter)
        finally:
            catalog.close()


def _found(state: tuple[int, int]) -> FoundCatalog:
    made, missing = state
    if made >= 0:
        return FoundCatalog(CatalogState.USED, made)
    return FoundCatalog(CatalogState.COMING if missing < 0 else CatalogState.GONE, -1 - made)


def _enter(tx: Tx) -> None:
    made, missing = catalog_changes.state(tx)
    if _found((made, missing)).state is CatalogState.COMING:
        catalog_changes.take_over(tx, -1 - made, -1 - missing)
