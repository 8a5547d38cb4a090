"""Inspects, copies and rewrites the vaults of a PostgreSQL database; repairs do not exist yet and are refused."""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NoReturn, TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import StorageError
from recollectum.domain.ids import Clock
from recollectum.home.database_mark import mark_database
from recollectum.home.paths import Home
from recollectum.storage.engine import (
    CATALOG,
    ChunkTerms,
    Engine,
    Inspection,
    Progress,
    SalvagedVault,
    VaultCopy,
    VaultRewriting,
)
from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres import vault_rows
from recollectum.storage.postgres.copies import PostgresCopies
from recollectum.storage.postgres.database import PostgresDatabase
from recollectum.storage.sqlite.files import CATALOG_FILE, KEYS_FILE, name_in_backup
from recollectum.storage.sqlite.upkeep import SqliteUpkeep
from recollectum.storage.tables.trail import meta

T = TypeVar("T")


class PostgresInspection:
    """One vault, which is read and not changed; see `storage.engine.Inspection`."""

    def __init__(self, database: Database, pending: Callable[[], tuple[str, ...]]) -> None:
        self._database = database
        self._pending = pending

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one snapshot."""
        return self._database.read(work)

    def owner(self) -> str | None:
        """Return the owner that the vault names."""
        return self._database.read(lambda tx: meta.find(tx, "owner"))

    def faults(self) -> list[str]:
        """Read every row, and return the faults; the server's data checksums guard the pages."""
        self._database.read(vault_rows.counts)
        return []

    def index_faults(self) -> list[str]:
        """Return none: the indexes are the server's, which `pg_amcheck` compares with their tables."""
        return []

    def pending_steps(self) -> tuple[str, ...]:
        """Return the schema steps that `recollectum upgrade` would run."""
        return self._pending()

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of each table."""
        return self._database.read(vault_rows.counts)


class PostgresUpkeep:
    """The vaults of one database; see `storage.engine.EngineUpkeep`."""

    def __init__(
        self,
        home: Home,
        engine: Engine,
        open_unchecked: Callable[[str, bytes | None], PostgresDatabase],
        copies: PostgresCopies,
        clock: Clock,
    ) -> None:
        self._home = home
        self._engine = engine
        self._open = open_unchecked
        self._copies = copies
        #: The keys are in a file of the home.
        self._files = SqliteUpkeep(home, clock)

    @property
    def rewriting(self) -> VaultRewriting:
        """Return the object that rewrites vaults under other keys."""
        # Imported here: few homes change a key.
        from recollectum.storage.postgres.operations.rewriting import PostgresRewriting  # noqa: PLC0415

        return PostgresRewriting(self._engine, self._files.rewriting, self._open)

    def copy_catalog(self, folder: Path, key: bytes | None, progress: Progress) -> VaultCopy:
        """Copy a snapshot of the catalog into a file in the folder of a backup."""
        return self._copies.write_catalog(folder, key, progress)

    def copy_vault(
        self, folder: Path, vault_id: str, key: bytes | None, terms: ChunkTerms, progress: Progress
    ) -> VaultCopy:
        """Copy a snapshot of a vault into an ordinary vault file."""
        return self._copies.write_vault(folder, vault_id, key, terms, progress)

    def put_vault(
        self, vault_id: str, key: bytes | None, copy: Path, copy_key: bytes | None, terms: ChunkTerms
    ) -> None:
        """Replace the rows of a vault by those of a copy, in one transaction; create a missing vault."""
        if vault_id == CATALOG:
            self._copies.put_catalog(key, copy, copy_key)
        else:
            self._copies.put_vault(vault_id, key, copy, copy_key, terms)

    def in_the_way(self, names: Sequence[str]) -> list[Path]:
        """Return the key store if a copy would overwrite it; refuse a database that has vaults."""
        self._copies.check_empty()
        return self._files.in_the_way([name for name in names if name == KEYS_FILE])

    def put_home(
        self, folder: Path, names: Sequence[str], keys: Mapping[str, bytes | None], terms: ChunkTerms, now: datetime
    ) -> list[Path]:
        """Fill an empty database from the copies in a folder, the catalog last; then note that the home uses it."""
        kept = self._files.put_home(folder, [name for name in names if name == KEYS_FILE], keys, terms, now)
        for vault_id, key in keys.items():
            if vault_id != CATALOG:
                self.put_vault(vault_id, key, folder / name_in_backup(vault_id), key, terms)
        self._copies.put_catalog(keys[CATALOG], folder / CATALOG_FILE, keys[CATALOG])
        mark_database(self._home)
        return kept

    def set_aside(self, vault_id: str, now: datetime) -> Path | None:  # noqa: ARG002
        """Return None for a missing vault; refuse to set aside the rows of another."""
        if not self._copies.has_vault(vault_id):
            return None
        _refuse("setting a vault aside", "restore the database from the server's backup")

    @contextmanager
    def inspect(self, vault_id: str, key: bytes | None) -> Generator[Inspection]:
        """Open one vault for inspection, without changing it."""
        database = self._open(vault_id, key)
        try:
            yield PostgresInspection(database, lambda: self._engine.pending_steps(vault_id, key))
        finally:
            database.close()

    def base_faults(self, key: bytes | None) -> list[str]:  # noqa: ARG002 - see above
        """Return none: the server checks the catalog, and opening it has read it."""
        return []

    def repair_vault(
        self,
        vault_id: str,
        owner: Owner,  # noqa: ARG002
        key: bytes | None,  # noqa: ARG002
        *,
        release: Callable[[], bool],  # noqa: ARG002
        rebuild: Callable[[Tx], int],  # noqa: ARG002
    ) -> SalvagedVault:
        """Refuse: the server repairs itself, or is restored."""
        _refuse(f"a repair of {vault_id}", "restore the database from the server's backup")

    def long_logs(self, most: int) -> list[tuple[str, int]]:  # noqa: ARG002
        """Return none: the server looks after its log."""
        return []

    def names_of_others(self, vault_ids: Collection[str]) -> list[str]:  # noqa: ARG002
        """Return none: no vault is a file in the home."""
        return []


def _refuse(what: str, instead: str) -> NoReturn:
    raise StorageError(f"{what} does not work on PostgreSQL yet; {instead}")
