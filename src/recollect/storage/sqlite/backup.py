"""Copy a live database through SQLite's backup interface, the only copy that is whole."""

import os
from pathlib import Path

import apsw

from recollect.home.files import sync_folder
from recollect.storage.sqlite.connection import connect
from recollect.storage.sqlite.database import SqliteDatabase


def back_up(database: SqliteDatabase, target: Path, *, key: bytes | None) -> Path:
    """A complete copy at `target`, under the same key; one that is there already is the older and is left alone."""
    # Under a name of its own until it is whole: another process may be making the same copy.
    made = target.with_name(f".{target.name}-{os.urandom(8).hex()}")

    def copy(source: apsw.Connection) -> None:
        destination = connect(made, key=key)
        try:
            with destination.backup("main", source, "main") as backup:
                backup.step()
        finally:
            destination.close()

    try:
        database.on_connection(copy)
        _place(made, target)
        sync_folder(target.parent)
    finally:
        made.unlink(missing_ok=True)
    return target


def _place(made: Path, target: Path) -> None:
    """Give a copy its name without replacing what has it: a link refuses to, where there are links."""
    try:
        os.link(made, target)
    except FileExistsError:
        return
    except OSError:
        if not target.exists():
            made.replace(target)
