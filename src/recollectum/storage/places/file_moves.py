"""Makes the files of vaults and of the catalog one side of a move: marks them, sets them aside, keeps numbers."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import apsw

from recollectum.domain.errors import Busy, Conflict, Damaged, WrongKey
from recollectum.domain.ids import system_clock
from recollectum.home.files import sync_folder
from recollectum.home.paths import Home
from recollectum.storage.copying.copied_tables import keep_last_numbers, last_numbers
from recollectum.storage.copying.database_file import create_file
from recollectum.storage.copying.row_copier import CopiedTable
from recollectum.storage.engine import CATALOG
from recollectum.storage.places.catalog_state import CatalogState, FoundCatalog
from recollectum.storage.port import Database, Tx
from recollectum.storage.sqlite import files
from recollectum.storage.sqlite.connection import connect, is_only_connection
from recollectum.storage.sqlite.database import SqliteTx
from recollectum.storage.sqlite.failures import translated
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.sqlite.moved_mark import FIND_COMING, MARK, MARK_COMING, UNMARK, is_coming, is_marked
from recollectum.storage.tables.catalog import catalog_changes

_PAUSE_SECONDS = 0.05
_COMMITS_OF_OTHERS = "PRAGMA data_version"


class FileMoves:
    """The vault files of one home, as one side of a move; see `storage.places.vault_move.MoveSide`."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._files = HomeFiles(home)

    def mark_moved(self, tx: Tx) -> None:
        """Mark the vault in the transaction that ends its move."""
        tx.run(MARK, {})

    def is_moved(self, vault_id: str, key: bytes | None) -> bool:
        """Return whether a vault was moved away, and its file is still there."""
        path = self._files.vault(vault_id)
        if not files.has_content(path):
            return False
        try:
            connection = connect(path, key=key)
        except (Damaged, WrongKey):
            return False
        try:
            with translated(path, encrypted=key is not None):
                return is_marked(connection)
        finally:
            connection.close()

    def clear(self, vault_id: str, key: bytes | None, now: datetime, patience: timedelta) -> Path | None:
        """Set the file of a moved vault aside, once no program has it open; return its new path.

        SQLite removes the log of a file by its name: a program that closes the old file later would remove the log of
        a newer file of that name.
        """
        return self._set_aside(self._files.vault(vault_id), key, now, patience)

    def clear_catalog(self, key: bytes | None, now: datetime, patience: timedelta) -> Path | None:
        """Set the catalog that was moved away aside, once no program has it open; return its new path."""
        return self._set_aside(self._files.catalog, key, now, patience)

    def _set_aside(self, path: Path, key: bytes | None, now: datetime, patience: timedelta) -> Path | None:
        if not files.is_there(path):
            return None
        deadline = time.monotonic() + patience.total_seconds()
        while not self._is_unused(path, key):
            if time.monotonic() >= deadline:
                raise Busy(f"another program still has {path} open; it closes the file when it next uses it")
            time.sleep(_PAUSE_SECONDS)
        return files.set_aside(self._home, path, now)

    def _is_unused(self, path: Path, key: bytes | None) -> bool:
        try:
            return is_only_connection(path, key)
        except (Damaged, WrongKey):
            return True

    def others_wrote(self, tx: Tx) -> int | None:
        """Return SQLite's number of the commits of other connections, as the connection that writes has seen them."""
        return tx.rows(_COMMITS_OF_OTHERS, {})[0][0]

    def last_numbers(self, tx: Tx) -> dict[str, int]:
        """Return the highest number ever used, by table."""
        return last_numbers(tx)

    def keep_last_numbers(self, tx: Tx, numbers: Mapping[str, int], tables: Sequence[CopiedTable]) -> None:
        """Use none of these numbers again."""
        keep_last_numbers(tx, numbers, tables)


class FileCatalog:
    """The catalog in a file; see `storage.places.catalog_state.CatalogPlace`."""

    def __init__(self, home: Home, key: bytes | None) -> None:
        self._path = HomeFiles(home).catalog
        self._key = key

    def find(self) -> FoundCatalog:
        """Return what it is."""
        if not files.has_content(self._path):
            return FoundCatalog(CatalogState.MISSING, 0)
        connection = connect(self._path, key=self._key)
        try:
            with translated(self._path, encrypted=self._key is not None):
                return _found(connection)
        finally:
            connection.close()

    def prepare(self, room: Path) -> None:
        """Let it be one that is copied; a new file has the mark before it has its name."""
        state = self.find().state
        if state is CatalogState.USED:
            raise Conflict(f"{self._path} is the catalog of another home; rename it, or name another home")
        path = room / self._path.name if state is CatalogState.MISSING else self._path
        if path != self._path:
            files.remove(path)
        catalog = create_file(path, CATALOG, self._key, system_clock)
        try:
            catalog.write(_begin)
        finally:
            catalog.close()
        if path != self._path:
            path.rename(self._path)
            sync_folder(self._path.parent)

    def opened(self) -> Database:
        """Open it, whatever it is."""
        return create_file(self._path, CATALOG, self._key, system_clock)

    def save_changes(self, tx: Tx, made: int, missing: int) -> None:
        """Take over how many changes were made."""
        catalog_changes.take_over(tx, made, missing)

    def leave(self, tx: Tx) -> None:
        """Mark it as moved away."""
        tx.run(MARK, {})

    def enter(self) -> None:
        """Let a copied one be used."""
        catalog = self.opened()
        try:
            catalog.write(_enter)
        finally:
            catalog.close()


def _found(connection: apsw.Connection) -> FoundCatalog:
    made = catalog_changes.find(SqliteTx(connection))
    if is_marked(connection):
        return FoundCatalog(CatalogState.GONE, made)
    return FoundCatalog(CatalogState.COMING if is_coming(connection) else CatalogState.USED, made)


def _begin(tx: Tx) -> None:
    tx.run(MARK_COMING, {})
    catalog_changes.take_over(tx, 0, 0)


def _enter(tx: Tx) -> None:
    if tx.rows(FIND_COMING, {})[0][0]:
        tx.run(UNMARK, {})
