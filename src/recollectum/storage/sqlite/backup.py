"""Copies a live database through SQLite's online backup interface."""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import cast

import apsw

from recollectum.domain.errors import StorageError
from recollectum.home.files import sync_folder
from recollectum.storage.key_tables import TASK_KEY
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.conversion import convert, page_bytes, page_bytes_of
from recollectum.storage.sqlite.database import SqliteDatabase
from recollectum.storage.sqlite.failures import translated
from recollectum.storage.sqlite.files import has_content, remove
from recollectum.storage.sqlite.integrity import row_counts

#: The number of pages between two progress reports.
_STEP = 1024


def back_up(database: SqliteDatabase, target: Path, *, key: bytes | None) -> Path:
    """Write a complete copy to `target`, under the same key; leave an existing copy, which is older, alone."""
    # Write under a temporary name until the copy is complete: another process may be making the same copy.
    made = target.with_name(f".{target.name}-{os.urandom(8).hex()}")

    def copy(source: apsw.Connection) -> None:
        destination = connect(made, key=key, page_bytes=page_bytes(source))
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
    """Give a copy its name without replacing an existing file: a hard link fails then, where links are supported."""
    try:
        os.link(made, target)
    except FileExistsError:
        return
    except OSError:
        if not target.exists():
            made.replace(target)


def copy_snapshot(
    source: Path, target: Path, *, key: bytes | None, progress: Callable[[int], None] = lambda _: None
) -> dict[str, int]:
    """Copy a snapshot of a database that others may be writing; return the number of rows of each table."""
    if not source.exists():
        raise StorageError(f"{source} is missing; restore it from a backup, nothing was created in its place")
    # Use a separate connection: its snapshot holds while writers go on, so the copy never restarts.
    reader = connect(source, key=key)
    try:
        with translated(source, encrypted=key is not None):
            reader.execute("BEGIN")
            counts = row_counts(reader)
        fill(target, key, reader, progress)
        return counts
    finally:
        reader.close(True)


def replace_content(source: Path, source_key: bytes | None, target: Path, target_key: bytes | None) -> None:
    """Replace the content of a database, which may be in use, by another's: in one transaction, under its own key."""
    size = page_bytes_of(source, source_key)
    wanted = page_bytes_of(target, target_key) if has_content(target) else size
    if size == wanted and (source_key is None) == (target_key is None):
        _pour(source, source_key, target, target_key)
        return
    # A database in use keeps the layout of its pages, and SQLite copies pages of one layout only: their size, and the
    # bytes that an encrypted page reserves.
    fitting = source.with_name(f".{source.name}-{os.urandom(8).hex()}")
    try:
        convert(source, source_key, fitting, target_key, size=wanted)
        _pour(fitting, target_key, target, target_key)
    finally:
        remove(fitting)


def _pour(source: Path, source_key: bytes | None, target: Path, target_key: bytes | None) -> None:
    reader = connect(source, key=source_key)
    try:
        fill(target, target_key, reader, lambda _: None)
    finally:
        reader.close()


def keep_only_keys(path: Path, ids: Collection[str]) -> None:
    """Delete the wrapped keys of all other vaults from a copy of keys.db."""
    _remove_keys(path, lambda vault_id: vault_id not in ids)


def drop_keys(path: Path, ids: Collection[str]) -> None:
    """Delete the wrapped keys of some vaults from a copy of keys.db; do not touch a copy that has none of them."""
    _remove_keys(path, lambda vault_id: vault_id in ids)


def _remove_keys(path: Path, goes: Callable[[str], bool]) -> None:
    connection = connect(path)
    try:
        with translated(path, encrypted=False):
            held = cast(list[tuple[str]], connection.execute("SELECT vault_id FROM vault_keys").fetchall())
            going = [(name,) for (name,) in held if goes(name.removeprefix(TASK_KEY))]
            if going:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("DELETE FROM vault_keys WHERE vault_id = ?", going)
                connection.execute("COMMIT")
    finally:
        connection.close()


def fill(target: Path, key: bytes | None, source: apsw.Connection, progress: Callable[[int], None]) -> None:
    """Copy the pages of one database into another, under its own key."""
    destination = connect(target, key=key, page_bytes=page_bytes(source))
    try:
        with translated(target, encrypted=key is not None):
            with destination.backup("main", source, "main") as backup:
                while not backup.step(_STEP):
                    progress(_STEP)
            # Leave none of them in a log that is not copied with the file.
            destination.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        destination.close(True)
