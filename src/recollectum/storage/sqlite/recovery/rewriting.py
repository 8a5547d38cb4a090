"""Rewrites a vault file under another key, and the copies of it that the home keeps in its backups."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import apsw

from recollectum.domain.errors import Busy, Damaged
from recollectum.home.files import sync_folder, sync_path
from recollectum.home.paths import Home
from recollectum.storage.engine import Progress
from recollectum.storage.page_recoding import is_opened_by, recode_file
from recollectum.storage.sqlite import integrity
from recollectum.storage.sqlite.backup import fill
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.failures import translated
from recollectum.storage.sqlite.files import HomeFiles, has_content, log_of, remove
from recollectum.storage.sqlite.files import remove as clear


class SqliteRewriting:
    """The vault files of one home; see `storage.engine.VaultRewriting`."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._files = HomeFiles(home)

    def rewrite(
        self, vault_id: str, key: bytes, new_key: bytes, progress: Progress, check: Callable[[], None] = lambda: None
    ) -> None:
        """Replace a vault that nobody has open by a copy under another key: one rename, after the copy was read."""
        path, made = self._files.vault(vault_id), self._unfinished(vault_id)
        remove(made)
        try:
            reader = connect(path, key=key)
            try:
                with translated(path, encrypted=True):
                    state = _state(reader)
                    reader.execute("BEGIN")
                    rows = integrity.row_counts(reader)
                    fill(made, new_key, reader, progress)
                    reader.execute("COMMIT")
                _check(made, new_key, rows)
                progress(made.stat().st_size // 4096)
                with translated(path, encrypted=True):
                    changed = _state(reader) != state
            finally:
                reader.close(True)
            if changed or has_content(log_of(path)):
                raise Busy(f"{path} was written while it was copied; close the programs that use it, then try again")
            check()
            made.replace(path)
            sync_folder(path.parent)
        finally:
            remove(made)

    def is_opened_by(self, vault_id: str, key: bytes) -> bool:
        """Return whether a key opens a vault."""
        # Not by SQLite: with a wrong key it would still handle a log that a killed process left.
        path = self._files.vault(vault_id)
        return path.exists() and is_opened_by(path, key)

    def settle(self, vault_id: str, new_key: bytes, remove: Callable[[], None]) -> bool:
        """Delete what an interrupted rewrite left; all who could rewrite the file wait for the lock of key changes."""
        clear(self._unfinished(vault_id))
        is_new = self.is_opened_by(vault_id, new_key)
        if not is_new:
            remove()
        return is_new

    def room_for(self, vault_id: str) -> int:
        """Return twice the size of the vault: it is written into the log of the new file first, then into the file."""
        path = self._files.vault(vault_id)
        return 2 * path.stat().st_size if path.exists() else 0

    def copies(self, vault_id: str) -> list[Path]:
        """Return the copies of a vault and its log that only its key opens: from migrations, repairs and restores."""
        return sorted(self._copies(vault_id))

    def rewrite_copy(self, copy: Path, key: bytes, new_key: bytes, progress: Progress) -> None:
        """Rewrite such a copy in one step; what the old key does not open in it stays as it is."""
        recode_file(copy, key, new_key, progress)

    def _copies(self, vault_id: str) -> Iterator[Path]:
        path = self._files.vault(vault_id)
        yield from self._home.backups.glob(f"{path.stem}-*{path.suffix}")
        for folder in self._home.backups.glob(f"aside-{path.stem}-*"):
            yield from (part for part in (folder / path.name, log_of(folder / path.name)) if part.is_file())

    def _unfinished(self, vault_id: str) -> Path:
        path = self._files.vault(vault_id)
        return path.with_name(f".{path.stem}-rekey.unfinished")


def _state(reader: apsw.Connection) -> int:
    """Return SQLite's count of commits by others."""
    reader.execute("SELECT 1 FROM sqlite_schema").fetchone()
    return cast(int, reader.pragma("data_version"))


def _check(made: Path, key: bytes, rows: dict[str, int]) -> None:
    """Read every page and row of the copy, compare the counts, and flush it to the disk."""
    database = SqliteDatabase(made, SqliteOptions(key=key, readers=1))
    try:
        faults = database.on_connection(integrity.page_faults) or database.on_connection(integrity.row_faults)
        same = database.on_connection(integrity.row_counts) == rows
    finally:
        database.close()
    if faults or not same:
        what = faults[0] if faults else "its rows are not those of the vault"
        raise Damaged(f"the copy under a new key is not whole ({what}), so the vault was left as it is")
    sync_path(made)
