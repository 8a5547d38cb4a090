"""Salvages every readable row of a damaged database into a new one and restores referential integrity there."""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import cast

import apsw

from recollectum.home.files import create_private, sync_file
from recollectum.storage.encrypted_pages import CLEAR_BYTES, decrypt_page
from recollectum.storage.engine import SalvageCounts
from recollectum.storage.port import Row
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.failures import translated
from recollectum.storage.sqlite.integrity import UNREADABLE, tables_of
from recollectum.storage.sqlite.recovery.salvage_rows import RecoveredRows, keyed_rows, numbered_rows

_BLOCK = 1 << 20
#: The page cache, so that a page that is read again need not be decrypted again.
_CACHE_KIB = 64 * 1024
#: Rows per insert.
_BATCH = 500
# Not the first page, which also holds the size of the file.
_SCHEMA_PAGES = "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema' AND pageno > 1"
_HEADER_BYTES = 100
_ORPHANS = 'DELETE FROM "{table}" WHERE "{column}" IS NOT NULL AND "{column}" NOT IN (SELECT "{to}" FROM "{parent}")'


def copy_raw(source: Path, target: Path) -> None:
    """Copy the bytes of a database, including damaged pages, through SQLite's VFS.

    If Python opened and closed the file, this process would lose the locks that SQLite holds on it.
    """
    create_private(target)
    layer = next(name for name in apsw.vfs_names() if name.startswith(("unix", "win32")))
    flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0]
    with translated(source, encrypted=False):
        file = apsw.VFSFile(layer, str(source), flags)
        try:
            size = file.xFileSize()
            with target.open("r+b") as copy:
                for start in range(0, size, _BLOCK):
                    copy.write(file.xRead(min(_BLOCK, size - start), start))
                copy.flush()
                sync_file(copy.fileno())
        finally:
            file.xClose()


def salvage(source: Path, target: Path, *, key: bytes | None, skip: Collection[str]) -> list[SalvageCounts]:
    """Copy the readable rows of every table except `skip`; the target has the tables already, and no rows."""
    old = connect(source, key=key, cache_kib=_CACHE_KIB)
    try:
        new = connect(target, key=key, cache_kib=_CACHE_KIB)
        try:
            new.pragma("foreign_keys", "off")
            wanted = [(name, numbered) for name, numbered in tables_of(new) if name not in skip]
            with translated(target, encrypted=key is not None):
                # One transaction for all tables: each commit waits for the disk.
                new.execute("BEGIN IMMEDIATE")
                tallies = [_save_table(old, new, name, numbered=numbered) for name, numbered in wanted]
                _carry_counters(old, new)
                new.execute("COMMIT")
            return tallies
        finally:
            new.close(True)
    finally:
        old.close(True)


def copy_schema_pages(donor: Path, damaged: Path, *, key: bytes | None) -> None:
    """Overwrite the schema pages of a damaged copy with those of a new vault of the same key.

    A vault created in one go has its tables at the same pages. If a table is elsewhere, its rows do not fit the table
    they are read as, and the new vault refuses them.
    """
    connection = connect(donor, key=key)
    try:
        with translated(donor, encrypted=key is not None):
            size = cast(int, connection.pragma("page_size"))
            pages = cast(list[tuple[int]], connection.execute(_SCHEMA_PAGES).fetchall())
    finally:
        connection.close()
    with donor.open("rb") as lent, damaged.open("r+b") as copy:
        for (page,) in pages:
            lent.seek((page - 1) * size)
            copy.seek((page - 1) * size)
            copy.write(lent.read(size))


def first_schema_page(path: Path, size: int, key: bytes | None) -> bytes | None:
    """Return the part of the first page that says where the schema is; None when it cannot be read."""
    with path.open("rb") as file:
        page = file.read(size)
    if key is None:
        return page[_HEADER_BYTES:]
    content = decrypt_page(key, page, 1)
    return None if content is None else content[_HEADER_BYTES - CLEAR_BYTES :]


def delete_orphans(path: Path, *, key: bytes | None) -> dict[str, int]:
    """Delete rows whose parent row was lost; return how many of each table."""
    connection = connect(path, key=key)
    dropped: dict[str, int] = {}
    try:
        with translated(path, encrypted=key is not None):
            # Deleting a row can orphan others, but references go up only a few levels.
            while connection.execute("PRAGMA foreign_key_check").fetchall():
                for name, _ in tables_of(connection):
                    for column, parent, to in _references(connection, name):
                        sql = _ORPHANS.format(table=name, column=column, parent=parent, to=to)
                        connection.execute(sql)
                        if changed := connection.changes():
                            dropped[name] = dropped.get(name, 0) + changed
        return dropped
    finally:
        connection.close()


def _save_table(old: apsw.Connection, new: apsw.Connection, name: str, *, numbered: bool) -> SalvageCounts:
    columns = _shared_columns(old, new, name)
    if not columns:
        return SalvageCounts(table=name, saved=0, lost=0, exact=False)
    found = numbered_rows(old, name, columns) if numbered else keyed_rows(old, name, columns, _key_columns(new, name))
    saved, refused = _insert(new, name, columns, found)
    # Count after the rows: only when all were requested is it known which could not be read.
    return SalvageCounts(table=name, saved=saved, lost=found.lost + refused, exact=found.exact)


def _insert(new: apsw.Connection, name: str, columns: Sequence[str], found: RecoveredRows) -> tuple[int, int]:
    sql = f'INSERT INTO "{name}" ({_listed(columns)}) VALUES ({", ".join("?" * len(columns))})'  # noqa: S608
    saved = refused = 0
    while batch := list(islice(found.rows, _BATCH)):
        wrong = 0 if _insert_all(new, sql, batch) else _insert_each(new, sql, batch)
        refused += wrong
        saved += len(batch) - wrong
    return saved, refused


def _insert_all(new: apsw.Connection, sql: str, batch: Sequence[Row]) -> bool:
    """Insert all of the rows, which is fast, or none if one of them is refused."""
    new.execute("SAVEPOINT batch")
    try:
        new.executemany(sql, batch)
    except (apsw.ConstraintError, apsw.MismatchError):
        new.execute("ROLLBACK TO batch")
        return False
    finally:
        new.execute("RELEASE batch")
    return True


def _insert_each(new: apsw.Connection, sql: str, batch: Sequence[Row]) -> int:
    """Insert the rows that are accepted, and return how many are not."""
    refused = 0
    for row in batch:
        try:
            new.execute(sql, row)
        except (apsw.ConstraintError, apsw.MismatchError):
            # A value of the wrong type, or a duplicate of a unique one: it was read, and cannot be right.
            refused += 1
    return refused


def _carry_counters(old: apsw.Connection, new: apsw.Connection) -> None:
    """Copy the AUTOINCREMENT counters, so that a number is never used twice, even after a repair."""
    try:
        rows = old.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    except (apsw.SQLError, *UNREADABLE):
        return
    for name, last in rows:
        if not isinstance(last, int):
            continue
        new.execute("DELETE FROM sqlite_sequence WHERE name = ? AND seq < ?", (name, last))
        new.execute(
            "INSERT INTO sqlite_sequence (name, seq) SELECT :name, :last "
            "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)",
            {"name": name, "last": last},
        )


def _shared_columns(old: apsw.Connection, new: apsw.Connection, name: str) -> list[str]:
    here = [row[1] for row in _info(old, name)]
    return [row[1] for row in _info(new, name) if row[1] in here]


def _key_columns(connection: apsw.Connection, name: str) -> list[str]:
    keys = sorted((row[5], row[1]) for row in _info(connection, name) if row[5])
    return [column for _, column in keys]


def _info(connection: apsw.Connection, name: str) -> list[Row]:
    try:
        return connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    except UNREADABLE:
        return []


def _references(connection: apsw.Connection, name: str) -> Iterator[tuple[str, str, str]]:
    rows = connection.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
    numbers = [row[0] for row in rows]
    for number, _, parent, column, to, *_ in cast(list[tuple[int, int, str, str, str]], rows):
        # References of several columns exist only between derived rows, which are rebuilt.
        if numbers.count(number) == 1:
            yield column, parent, to


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


#: By table: rows of lost ones, which nothing could ever show.
_DROPPED = {
    "memory_versions": "DELETE FROM memory_versions WHERE memory_id NOT IN (SELECT id FROM memories)",
    "citations": "DELETE FROM citations WHERE memory_id NOT IN (SELECT id FROM memories)",
    "proposals": "DELETE FROM proposals WHERE session_id NOT IN (SELECT id FROM sessions)",
    "purge_items": "DELETE FROM purge_items WHERE 'purge:' || purge_id NOT IN (SELECT name FROM meta)",
    "purge_samples": "DELETE FROM purge_samples WHERE 'purge:' || purge_id NOT IN (SELECT name FROM meta)",
    "quarantined": """
        DELETE FROM quarantined WHERE quarantine_id NOT IN (SELECT id FROM quarantines)
            OR item NOT IN (SELECT id FROM messages UNION ALL SELECT id FROM memories)
    """,
}
_MENDED = (
    # Its replacement is lost: the earlier fact is better than none.
    """
    UPDATE memories SET superseded_by = NULL
     WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT id FROM memories)
    """,
    """
    UPDATE memories SET supersedes = NULL
     WHERE supersedes IS NOT NULL AND supersedes NOT IN (SELECT id FROM memories)
    """,
    # The next message must not take the position of one that was saved.
    """
    UPDATE sessions SET message_count = (SELECT max(position) FROM messages WHERE session_id = sessions.id)
     WHERE message_count < (SELECT max(position) FROM messages WHERE session_id = sessions.id)
    """,
)


def restore_references(path: Path, *, key: bytes | None) -> dict[str, int]:
    """Make the rows of a salvaged vault consistent; return how many of each table were deleted."""
    connection = connect(path, key=key)
    try:
        with translated(path, encrypted=key is not None):
            connection.execute("BEGIN IMMEDIATE")
            dropped: dict[str, int] = {}
            for table, sql in _DROPPED.items():
                connection.execute(sql)
                dropped[table] = connection.changes()
            for sql in _MENDED:
                connection.execute(sql)
            connection.execute("COMMIT")
            return {table: count for table, count in dropped.items() if count}
    finally:
        connection.close()
