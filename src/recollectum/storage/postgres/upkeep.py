"""Inspects the vaults of a PostgreSQL database; copies, repairs and new keys do not exist yet and are refused."""

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NoReturn, TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import StorageError
from recollectum.storage.engine import Engine, Inspection, Progress, SalvagedVault, VaultCopy, VaultRewriting
from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres import vault_rows
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

    def __init__(self, engine: Engine, open_unchecked: Callable[[str, bytes | None], Database]) -> None:
        self._engine = engine
        self._open = open_unchecked

    @property
    def rewriting(self) -> VaultRewriting:
        """Refuse: vaults cannot be rewritten under other keys yet."""
        _refuse("a change of keys", "keep the keys as they are")

    def copy_catalog(self, folder: Path, key: bytes | None, progress: Progress) -> VaultCopy:  # noqa: ARG002
        """Refuse: there are no copies yet."""
        _refuse("a backup", "use pg_dump or a base backup of the server, and keep a copy of the home with its keys")

    def copy_keys(self, folder: Path, vault_ids: Collection[str]) -> VaultCopy:  # noqa: ARG002
        """Refuse: there are no copies yet."""
        _refuse("a backup", "use pg_dump or a base backup of the server, and keep a copy of the home with its keys")

    def copy_vault(self, folder: Path, vault_id: str, key: bytes | None, progress: Progress) -> VaultCopy:  # noqa: ARG002
        """Refuse: there are no copies yet."""
        _refuse("a backup", "use pg_dump or a base backup of the server, and keep a copy of the home with its keys")

    def put_vault(self, vault_id: str, key: bytes | None, copy: Path, copy_key: bytes | None) -> None:  # noqa: ARG002
        """Refuse: a copy cannot be put back yet."""
        _refuse("a restore", "restore the backup into a home without storage.url")

    def in_the_way(self, names: Sequence[str]) -> list[Path]:  # noqa: ARG002
        """Return none: the vaults are not files."""
        return []

    def put_home(self, folder: Path, names: Sequence[str], now: datetime) -> list[Path]:  # noqa: ARG002
        """Refuse: a copy cannot be put back yet."""
        _refuse("a restore", "restore the backup into a home without storage.url")

    def set_aside(self, vault_id: str, now: datetime) -> Path | None:  # noqa: ARG002
        """Refuse: the rows of a vault cannot be set aside yet."""
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
