"""Checks the integrity of a database: every page, index, reference and row."""

from collections.abc import Iterable, Sequence
from typing import cast

import apsw

#: What SQLite and apsw raise for a page or a value that cannot be read.
UNREADABLE = (
    apsw.CorruptError,
    apsw.IOError,
    apsw.NotADBError,
    apsw.TooBigError,
    apsw.NoMemError,
    apsw.FormatError,
    UnicodeDecodeError,
)
_MOST_LINES = 20


def tables_of(connection: apsw.Connection) -> list[tuple[str, bool]]:
    """Return our tables, and whether each has row ids."""
    rows = cast(list[tuple[str, str, str, int, int, int]], connection.execute("PRAGMA main.table_list").fetchall())
    found = [(name, not without) for _, name, kind, _, without, _ in rows if kind == "table"]
    return sorted((name, by_number) for name, by_number in found if not name.startswith("sqlite_"))


def row_counts(connection: apsw.Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    names = [name for name, _ in tables_of(connection)]
    return {name: _number(connection, f'SELECT count(*) FROM "{name}"') for name in names}  # noqa: S608


def schema_number(connection: apsw.Connection) -> int:
    """Return the number of the last applied schema step; 0 for a file without steps."""
    if ("migrations", True) not in tables_of(connection):
        return 0
    return _number(connection, "SELECT coalesce(max(number), 0) FROM migrations")


def step_of(connection: apsw.Connection, otherwise: int) -> int | None:
    """Return the last schema step of a damaged file, `otherwise` if it cannot be read, or None if nothing can."""
    try:
        return schema_number(connection) or None
    except UNREADABLE:
        pass
    try:
        return otherwise if tables_of(connection) else None
    except UNREADABLE:
        return None


def page_faults(connection: apsw.Connection) -> list[str]:
    """Read every used page, and return the faults in pages, indexes, references and the full-text index."""
    found = _lines(connection, "PRAGMA integrity_check")
    if found:
        # Further checks would report the same faults again.
        return found
    counted: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        counted[str(table), str(parent)] = counted.get((str(table), str(parent)), 0) + 1
    found += [f"{count} rows of {table} refer to no row of {parent}" for (table, parent), count in counted.items()]
    return found + _text_faults(connection)


def index_faults(connection: apsw.Connection, tables: Iterable[str]) -> list[str]:
    """Compare the indexes of some tables with their rows, and return the faults: a damaged index hides rows."""
    return [line for name in tables for line in _lines(connection, f"PRAGMA integrity_check('{name}')")][:_MOST_LINES]


def row_faults(connection: apsw.Connection) -> list[str]:
    """Read every row, and return the values that cannot be read."""
    found: list[str] = []
    for name, _ in tables_of(connection):
        try:
            for _ in connection.execute(f'SELECT * FROM "{name}"'):  # noqa: S608
                pass
        except UNREADABLE as error:
            found.append(f"{name} has a row that cannot be read ({type(error).__name__})")
    return found


def _lines(connection: apsw.Connection, sql: str) -> list[str]:
    try:
        told = [str(line) for (line,) in connection.execute(sql).fetchall() if line != "ok"]
    except UNREADABLE as error:
        return [f"a page cannot be read ({type(error).__name__})"]
    lines = [line for text in told for line in text.splitlines()]
    # SQLite names pages and indexes here, never their content.
    return lines[:_MOST_LINES] + ([f"and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else [])


def _text_faults(connection: apsw.Connection) -> list[str]:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'search'").fetchall():
        return []
    try:
        connection.execute("INSERT INTO search (search) VALUES ('integrity-check')").fetchall()
    except UNREADABLE:
        return ["the full-text index is not what was written; rebuild it with: recollectum index rebuild"]
    return []


def _number(connection: apsw.Connection, sql: str, params: Sequence[str] = ()) -> int:
    return cast(int, connection.execute(sql, params).fetchall()[0][0])
