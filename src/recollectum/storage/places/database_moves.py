"""Makes the vaults of a database one side of a move: marks them, deletes their rows, and keeps their numbers."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from recollectum.storage.copying.row_copier import CopiedTable
from recollectum.storage.port import Tx
from recollectum.storage.postgres import vault_rows
from recollectum.storage.postgres.engine import PostgresEngine


class DatabaseMoves:
    """The vaults of one database; see `storage.places.vault_move.Moves`."""

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine

    def mark_moved(self, tx: Tx) -> None:
        """Mark the vault in the transaction that ends its move: nobody finds its number any more."""
        vault_rows.mark_moved(tx)

    def is_moved(self, vault_id: str, key: bytes | None) -> bool:  # noqa: ARG002 - the mark is not encrypted
        """Return whether a vault was moved away, and its rows are still there."""
        catalog = self._engine.open_catalog(None)
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
