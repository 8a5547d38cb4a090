"""Writes an ordinary database file from the rows of another engine, and reads the rows of one."""

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path

from recollectum.domain.errors import StorageError
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.files import sync_path
from recollectum.storage.copying.copied_tables import copied_tables, keep_last_numbers
from recollectum.storage.copying.row_copier import (
    CopiedTable,
    TableDigest,
    check_equal,
    clear_rows,
    copy_rows,
    digest_rows,
)
from recollectum.storage.engine import VAULT, Progress, VaultCopy
from recollectum.storage.port import Database, Tx
from recollectum.storage.sqlite.conversion import bring_seals_up_to_date
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, checkpoint
from recollectum.storage.sqlite.files import remove
from recollectum.storage.sqlite.integrity import row_counts, schema_number
from recollectum.storage.sqlite.migrate import finished, migrate, shipped


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedRows:
    """What a file is made from: the rows of one snapshot, and what is derived from them."""

    tx: Tx
    #: The highest number ever used, by table.
    numbers: Mapping[str, int]
    #: The number and the search terms of each chunk, which the text index is made from; None for a catalog.
    terms: Iterable[tuple[int, str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFile:
    """An open file, and its tables that both engines have."""

    database: Database
    tables: tuple[CopiedTable, ...]


def write_file(
    file: Path, family: str, key: bytes | None, rows: CopiedRows, progress: Progress, clock: Clock
) -> VaultCopy:
    """Write a new file with these rows, under a key, at this program's schema, and compare it with what was read."""
    database = create_file(file, family, key, clock)
    try:
        tables = database.on_connection(copied_tables)
        read = database.write(lambda target: _fill(rows, target, tables, progress))
        if family == VAULT:
            bring_seals_up_to_date(database, plain=key is None)
        check_equal(read, database.read(lambda tx: digest_rows(tx, tables)), file.name)
        database.on_connection(checkpoint)
        counts, schema = database.on_connection(row_counts), database.on_connection(schema_number)
    finally:
        database.close()
    sync_path(file)
    return VaultCopy(file=file.name, schema=schema, rows=counts)


@contextmanager
def open_file(file: Path, family: str, key: bytes | None) -> Generator[DatabaseFile]:
    """Open a file; refuse one that is not at this program's schema."""
    database = SqliteDatabase(file, SqliteOptions(key=key, readers=1))
    try:
        found, newest = database.on_connection(schema_number), shipped(family)[-1].number
        if found != newest:
            raise StorageError(f"{file.name} has schema {found} and not {newest}; upgrade it first")
        yield DatabaseFile(database=database, tables=database.on_connection(copied_tables))
    finally:
        database.close()


def table_list(room: Path, family: str, clock: Clock) -> tuple[CopiedTable, ...]:
    """Return the tables that both engines have at this program's schema; `room` is a folder for a file."""
    file = room / f".{family}-{os.urandom(6).hex()}.db"
    try:
        database = create_file(file, family, None, clock)
        try:
            return database.on_connection(copied_tables)
        finally:
            database.close()
    finally:
        remove(file)


def create_file(file: Path, family: str, key: bytes | None, clock: Clock) -> SqliteDatabase:
    """Create a file with no rows at this program's schema, or bring an existing one there."""
    database = SqliteDatabase(file, SqliteOptions(key=key, readers=1))
    try:
        steps = shipped(family)
        migrate(database, steps, clock=clock, backup=lambda _: None, schema=finished(family, steps))
    except BaseException:
        database.close()
        raise
    return database


def _fill(rows: CopiedRows, target: Tx, tables: tuple[CopiedTable, ...], progress: Progress) -> dict[str, TableDigest]:
    # A new file has rows that its schema steps made.
    clear_rows(target, tables)
    read = copy_rows(rows.tx, target, tables, progress)
    if rows.terms is not None:
        target.text.add(rows.terms)
    keep_last_numbers(target, rows.numbers, tables)
    return read
