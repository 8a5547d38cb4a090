"""Copy a live database through SQLite's backup interface, the only copy that is whole."""

from pathlib import Path

import apsw

from recollect.storage.sqlite.connection import connect
from recollect.storage.sqlite.database import SqliteDatabase


def back_up(database: SqliteDatabase, target: Path, *, key: bytes | None) -> Path:
    """A complete copy at `target`, under the same key; one that is there already is the older and is left alone."""
    if target.exists():
        return target

    def copy(source: apsw.Connection) -> None:
        destination = connect(target, key=key)
        try:
            with destination.backup("main", source, "main") as backup:
                backup.step()
        finally:
            destination.close()

    database.on_connection(copy)
    return target
