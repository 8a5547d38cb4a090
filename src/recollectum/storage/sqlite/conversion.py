"""Rewrites a database row by row: with pages of another size, under another key, or without one."""

from pathlib import Path
from typing import cast

import apsw

from recollectum.storage.sqlite.connection import connect, raw_key
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx
from recollectum.storage.sqlite.failures import translated
from recollectum.storage.sqlite.integrity import tables_of
from recollectum.storage.tables.trail import seals

# VACUUM cannot change the page size of an encrypted file, nor its key. Like it, copy tables and indexes first, then
# rows, and last the entries without pages, so that no trigger runs.
_STATEMENTS = """
    SELECT sql FROM source.sqlite_schema
     WHERE type IN ('table', 'index') AND rootpage > 0 AND sql IS NOT NULL AND name NOT LIKE 'sqlite^_%' ESCAPE '^'
     ORDER BY type = 'index', rowid
"""
_TABLES = """
    SELECT name FROM source.sqlite_schema
     WHERE type = 'table' AND rootpage > 0 AND (name = 'sqlite_sequence' OR name NOT LIKE 'sqlite^_%' ESCAPE '^')
     ORDER BY rowid
"""
_WITHOUT_PAGES = """
    INSERT INTO main.sqlite_schema SELECT * FROM source.sqlite_schema WHERE rootpage = 0 OR rootpage IS NULL
"""


def convert(source: Path, source_key: bytes | None, target: Path, key: bytes | None, *, size: int) -> None:
    """Copy a database that nobody writes into a new file under another key or none, with pages of the given size."""
    connection = connect(target, key=key, page_bytes=size)
    try:
        with translated(target, encrypted=key is not None):
            # The tables of the full-text index are copied as they are, which SQLite otherwise forbids.
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
            connection.pragma("foreign_keys", "off")
            given = raw_key(source_key) if source_key else ""
            connection.execute("ATTACH DATABASE ? AS source KEY ?", (str(source), given))
            connection.execute("BEGIN IMMEDIATE")
            _copy(connection)
            connection.execute("COMMIT")
            connection.execute("DETACH DATABASE source")
            has_seals = any(name == "seals" for name, _ in tables_of(connection))
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close(True)
    if has_seals and (source_key is None) != (key is None):
        _seal_again(target, key)


def _seal_again(path: Path, key: bytes | None) -> None:
    database = SqliteDatabase(path, SqliteOptions(key=key, readers=1))
    try:
        bring_seals_up_to_date(database, plain=key is None)
    finally:
        database.close()


def bring_seals_up_to_date(database: SqliteDatabase, *, plain: bool) -> None:
    """Seal rows that were written before seals existed; drop the seals of an encrypted file, which are not kept up."""
    due = database.on_connection(lambda connection: _seals_are_due(SqliteTx(connection), plain=plain))
    if due:
        database.write(seals.seal if plain else seals.clear)


def _seals_are_due(tx: SqliteTx, *, plain: bool) -> bool:
    return not seals.are_whole(tx) if plain else seals.are_there(tx)


def page_bytes(connection: apsw.Connection) -> int:
    """Return the size of a page."""
    return cast(int, connection.pragma("page_size"))


def page_bytes_of(path: Path, key: bytes | None) -> int:
    """Return the size of a page of a database file."""
    connection = connect(path, key=key)
    try:
        return page_bytes(connection)
    finally:
        connection.close()


def _copy(connection: apsw.Connection) -> None:
    for (sql,) in cast(list[tuple[str]], connection.execute(_STATEMENTS).fetchall()):
        connection.execute(sql)
    for (name,) in cast(list[tuple[str]], connection.execute(_TABLES).fetchall()):
        connection.execute(f'INSERT INTO main."{name}" SELECT * FROM source."{name}"')  # noqa: S608
    connection.pragma("writable_schema", "on")
    connection.execute(_WITHOUT_PAGES)
    connection.pragma("writable_schema", "off")
