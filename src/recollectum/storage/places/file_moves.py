"""Makes vault files one side of a move: marks them, sets them aside, and keeps their numbers."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from recollectum.domain.errors import Busy, Damaged, WrongKey
from recollectum.home.paths import Home
from recollectum.storage.copying.copied_tables import keep_last_numbers, last_numbers
from recollectum.storage.copying.row_copier import CopiedTable
from recollectum.storage.port import Tx
from recollectum.storage.sqlite import files
from recollectum.storage.sqlite.connection import connect, is_only_connection
from recollectum.storage.sqlite.failures import translated
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.sqlite.moved_mark import MARK, is_marked

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
        path = self._files.vault(vault_id)
        if not files.is_there(path):
            return None
        deadline = time.monotonic() + patience.total_seconds()
        while not self._is_unused(path, key):
            if time.monotonic() >= deadline:
                raise Busy(f"another program still has {path} open; it closes the file when it next uses the vault")
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
