"""Copies, verifies, repairs and puts back the database files of a home."""

import os
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, KeyProblem, Moved, StorageError
from recollectum.domain.ids import Clock
from recollectum.home.files import sync_folder, sync_path
from recollectum.home.paths import Home
from recollectum.storage.engine import (
    CATALOG,
    VAULT,
    ChunkTerms,
    Inspection,
    Progress,
    SalvagedVault,
    VaultCopy,
    VaultRewriting,
)
from recollectum.storage.port import Tx
from recollectum.storage.sqlite import files, integrity
from recollectum.storage.sqlite.backup import copy_snapshot, replace_content
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.sqlite.migrate import pending, shipped
from recollectum.storage.sqlite.moved_mark import is_coming, is_marked
from recollectum.storage.sqlite.recovery.repair import repair_file
from recollectum.storage.tables.trail import meta, seals

T = TypeVar("T")


class SqliteInspection:
    """One file, opened read-only; see `storage.engine.Inspection`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one snapshot."""
        return self._database.read(work)

    def owner(self) -> str | None:
        """Return the owner that the vault names."""
        return self._database.on_connection(lambda connection: meta.find(SqliteTx(connection), "owner"))

    def faults(self) -> list[str]:
        """Read every page and row, and return the faults."""
        on_connection = self._database.on_connection
        return on_connection(integrity.page_faults) or on_connection(integrity.row_faults)

    def index_faults(self) -> list[str]:
        """Compare the indexes of everything that is remembered with their tables."""
        return self._database.on_connection(lambda connection: integrity.index_faults(connection, seals.SOURCES))

    def pending_steps(self) -> tuple[str, ...]:
        """Return the schema steps that opening the file would run."""
        return tuple(step.label for step in pending(self._database, shipped(VAULT)))

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of each table."""
        return self._database.on_connection(integrity.row_counts)

    def schema(self) -> int:
        """Return the number of the last applied schema step."""
        return self._database.on_connection(integrity.schema_number)


@contextmanager
def inspect_file(path: Path, key: bytes | None) -> Generator[SqliteInspection]:
    """Open one file for inspection, without changing it."""
    database = SqliteDatabase(path, SqliteOptions(key=key, readers=1))
    try:
        yield SqliteInspection(database)
    finally:
        database.close()


class SqliteUpkeep:
    """The files of one home; see `storage.engine.EngineUpkeep`."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home = home
        self._files = HomeFiles(home)
        self._clock = clock

    @property
    def rewriting(self) -> VaultRewriting:
        """Return the object that rewrites vaults under other keys."""
        # Imported here: few homes change a key.
        from recollectum.storage.sqlite.recovery.rewriting import SqliteRewriting  # noqa: PLC0415

        return SqliteRewriting(self._home)

    def copy_catalog(self, folder: Path, key: bytes | None, progress: Progress) -> VaultCopy:
        """Copy the catalog, which may be in use, into the folder of a backup."""
        copy = _copy(self._files.catalog, folder, files.CATALOG_FILE, key, progress)
        connection = connect(folder / copy.file, key=key)
        try:
            if is_marked(connection) or is_coming(connection):
                raise Moved(f"{self._files.catalog} was moved away while it was copied; try again")
        finally:
            connection.close()
        return copy

    def copy_vault(
        self,
        folder: Path,
        vault_id: str,
        key: bytes | None,
        terms: ChunkTerms,  # noqa: ARG002 - the text index is copied with the file
        progress: Progress,
    ) -> VaultCopy:
        """Copy a snapshot of a vault, which may be in use."""
        return _copy(self._files.vault(vault_id), folder, files.name_in_backup(vault_id), key, progress)

    def put_vault(
        self,
        vault_id: str,
        key: bytes | None,
        copy: Path,
        copy_key: bytes | None,
        terms: ChunkTerms,  # noqa: ARG002 - the text index is copied with the file
    ) -> None:
        """Replace the content of a vault by that of a copy, in one transaction; create a missing vault."""
        path = self._files.catalog if vault_id == CATALOG else self._files.vault(vault_id)
        if path.exists():
            # Through SQLite, in one transaction: programs that have the vault open see either the old content or the
            # new.
            replace_content(copy, copy_key, path, key)
            return
        made = path.with_name(f".{path.stem}-{os.urandom(6).hex()}.unfinished")
        try:
            replace_content(copy, copy_key, made, key)
            made.replace(path)
            sync_folder(path.parent)
        finally:
            files.remove(made)

    def put_home(
        self,
        folder: Path,
        names: Sequence[str],
        keys: Mapping[str, bytes | None],  # noqa: ARG002 - the files stay as they are
        terms: ChunkTerms,  # noqa: ARG002 - see above
        now: datetime,
    ) -> list[Path]:
        """Create the home from the copies in a folder, the catalog last; return where the previous files are kept."""
        kept = [files.set_aside(self._home, path, now) for path in self.in_the_way(names)]
        # The keys before the vaults that they open, and the catalog after both.
        order = {files.KEYS_FILE: 0, files.CATALOG_FILE: 2}
        for name in sorted(names, key=lambda name: order.get(name, 1)):
            (folder / name).replace(self._home.root / name)
        sync_folder(self._home.vaults)
        sync_folder(self._home.root)
        return kept

    def in_the_way(self, names: Sequence[str]) -> list[Path]:
        """Return the databases and logs of the home that these copies would overwrite."""
        paths = [self._home.root / name for name in sorted(names, key=lambda name: name == files.CATALOG_FILE)]
        return [path for path in paths if files.is_there(path)]

    def set_aside(self, vault_id: str, now: datetime) -> Path | None:
        """Move a vault that cannot be read, or its remains, into the backups; return its new path."""
        path = self._files.vault(vault_id)
        return files.set_aside(self._home, path, now) if files.is_there(path) else None

    @contextmanager
    def inspect(self, vault_id: str, key: bytes | None) -> Generator[Inspection]:
        """Open one vault for inspection, without changing it."""
        path = self._files.vault(vault_id)
        log = files.log_of(path)
        if not files.has_content(path) and files.has_content(log):
            # SQLite would delete the log.
            raise Damaged(f"{path} is empty, but {log.name} is not; restore a backup with: recollectum restore")
        with inspect_file(path, key) as found:
            yield found

    def base_faults(self, key: bytes | None) -> list[str]:
        """Read the catalog and the wrapped keys to the last page, and return the faults."""
        found: list[str] = []
        databases = [(self._files.catalog, key), (self._files.keys, None)]
        for path, its_key in databases[: 1 + self._files.keys.exists()]:
            try:
                with inspect_file(path, its_key) as database:
                    faults = database.faults()
            except (StorageError, KeyProblem) as error:
                faults = [str(error)]
            found += [f"{path.name}: {fault}" for fault in faults]
        return found

    def repair_vault(
        self,
        vault_id: str,
        owner: Owner,
        key: bytes | None,
        *,
        release: Callable[[], bool],
        rebuild: Callable[[Tx], int],
    ) -> SalvagedVault:
        """Save every readable row of a damaged vault into a new file, and keep the old one as evidence."""
        path = self._files.vault(vault_id)
        return repair_file(self._home, path, owner, key, release=release, rebuild=rebuild, clock=self._clock)

    def long_logs(self, most: int) -> list[tuple[str, int]]:
        """Return the name and size of each database's write-ahead log that is larger than `most` bytes."""
        found: list[tuple[str, int]] = []
        for path in (self._files.catalog, self._files.keys, *self._files.vaults()):
            log = files.log_of(path)
            if log.exists() and (size := log.stat().st_size) > most:
                found.append((path.name, size))
        return found

    def names_of_others(self, vault_ids: Collection[str]) -> list[str]:
        """Return the prefixes, from the home, of all other vaults' file names."""
        return self._files.names_of_others(vault_ids)


def _copy(source: Path, folder: Path, name: str, key: bytes | None, progress: Progress) -> VaultCopy:
    # Count the rows of the snapshot: a copy that has others is detected when it is read back.
    rows = copy_snapshot(source, folder / name, key=key, progress=progress)
    return describe_file(folder / name, name, key, rows)


def describe_file(file: Path, name: str, key: bytes | None, rows: Mapping[str, int] | None = None) -> VaultCopy:
    """Return what a copy has, after it has reached the disk."""
    with inspect_file(file, key) as copy:
        found = VaultCopy(file=name, schema=copy.schema(), rows=copy.row_counts() if rows is None else rows)
    sync_path(file)
    return found
