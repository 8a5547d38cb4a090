"""Checks the integrity of a database: every page, index, reference and row."""

from collections.abc import Sequence
from dataclasses import dataclass
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

#: Rows that belong to nothing. Each is one count.
_STRAYS = {
    "versions of memories that are gone": """
        SELECT count(*) FROM memory_versions WHERE memory_id NOT IN (SELECT id FROM memories)
    """,
    "citations of memories that are gone": """
        SELECT count(*) FROM citations WHERE memory_id NOT IN (SELECT id FROM memories)
    """,
    "messages that stand after the end of their session": """
        SELECT count(*) FROM messages JOIN sessions ON sessions.id = session_id WHERE position > message_count
    """,
    "memories that were replaced by one that is gone": """
        SELECT count(*) FROM memories AS old WHERE superseded_by IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM memories WHERE id = old.superseded_by)
    """,
}
_WORTH = """
    WITH live AS (SELECT * FROM memories WHERE state IN ('active', 'archived') AND superseded_by IS NULL)
    SELECT (SELECT count(*) FROM live),
           (SELECT coalesce(sum(alike - 1), 0) FROM (SELECT count(*) AS alike FROM live
                GROUP BY fingerprint, kind, key, valid_from, valid_to)),
           (SELECT count(*) FROM live WHERE importance < 0.2),
           (SELECT count(*) FROM jobs WHERE state = 'failed')
"""
_CONTENT = ("memories", "memory_versions", "messages", "sessions", "notes", "note_folders", "transcript_roots")
#: What is missing for good, which a repair cannot bring back.
_GAPS = {
    "memories that lack one of their earlier versions": """
        SELECT count(*) FROM memories WHERE version - 1 > (
            SELECT count(*) FROM memory_versions WHERE memory_id = memories.id)
    """,
    "messages that are missing from their session": """
        SELECT coalesce(sum(max(message_count - (SELECT count(*) FROM messages WHERE session_id = sessions.id), 0)), 0)
          FROM sessions
    """,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Counts of what may not be worth keeping; how often a memory is recalled is not recorded."""

    live: int
    duplicates: int
    #: Of an importance below 0.2.
    slight: int
    failed_jobs: int


def tables_of(connection: apsw.Connection) -> list[tuple[str, bool]]:
    """The tables that hold rows of ours, and whether each has row ids."""
    rows = cast(list[tuple[str, str, str, int, int, int]], connection.execute("PRAGMA main.table_list").fetchall())
    found = [(name, not without) for _, name, kind, _, without, _ in rows if kind == "table"]
    return sorted((name, by_number) for name, by_number in found if not name.startswith("sqlite_"))


def row_counts(connection: apsw.Connection) -> dict[str, int]:
    """How many rows each table has."""
    names = [name for name, _ in tables_of(connection)]
    return {name: _number(connection, f'SELECT count(*) FROM "{name}"') for name in names}  # noqa: S608


def schema_number(connection: apsw.Connection) -> int:
    """The last schema step that was applied; 0 for a file without steps."""
    if ("migrations", True) not in tables_of(connection):
        return 0
    return _number(connection, "SELECT coalesce(max(number), 0) FROM migrations")


def step_of(connection: apsw.Connection, otherwise: int) -> int | None:
    """The last schema step of a damaged file, or the other when that cannot be read; None when nothing can."""
    try:
        return schema_number(connection) or None
    except UNREADABLE:
        pass
    try:
        return otherwise if tables_of(connection) else None
    except UNREADABLE:
        return None


def page_faults(connection: apsw.Connection) -> list[str]:
    """What a reading of every page that holds something finds: pages, indexes, references and full text."""
    found = _lines(connection, "PRAGMA integrity_check")
    if found:
        # The rest would tell the same once more.
        return found
    counted: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        counted[str(table), str(parent)] = counted.get((str(table), str(parent)), 0) + 1
    found += [f"{count} rows of {table} refer to no row of {parent}" for (table, parent), count in counted.items()]
    return found + _text_faults(connection)


def row_faults(connection: apsw.Connection) -> list[str]:
    """What a reading of every row finds: values that cannot be read."""
    found: list[str] = []
    for name, _ in tables_of(connection):
        try:
            for _ in connection.execute(f'SELECT * FROM "{name}"'):  # noqa: S608
                pass
        except UNREADABLE as error:
            found.append(f"{name} has a row that cannot be read ({type(error).__name__})")
    return found


def strays(connection: apsw.Connection) -> dict[str, int]:
    """Rows of a vault that belong to nothing, counted by what they are."""
    return _counted(connection, _STRAYS)


def gaps(connection: apsw.Connection) -> dict[str, int]:
    """Rows that a vault once had and has lost, counted by what they were."""
    return _counted(connection, _GAPS)


def marked_texts(connection: apsw.Connection) -> list[tuple[str, str]]:
    """The text of every memory, with the fingerprint that was kept beside it."""
    return cast(list[tuple[str, str]], connection.execute("SELECT content, fingerprint FROM memories").fetchall())


def worth(connection: apsw.Connection) -> Worth:
    """How much of what a vault remembers says the same twice, or was said to matter little."""
    rows = cast(list[tuple[int, int, int, int]], connection.execute(_WORTH).fetchall())
    live, twice, slight, failed = rows[0]
    return Worth(live=live, duplicates=twice, slight=slight, failed_jobs=failed)


def holds_nothing(connection: apsw.Connection) -> bool:
    """Whether nothing was ever said or remembered in a vault."""
    counts = row_counts(connection)
    return not any(counts.get(name, 0) for name in _CONTENT)


def _counted(connection: apsw.Connection, rules: dict[str, str]) -> dict[str, int]:
    counts = {rule: _number(connection, sql) for rule, sql in rules.items()}
    return {rule: count for rule, count in counts.items() if count}


def _lines(connection: apsw.Connection, sql: str) -> list[str]:
    try:
        told = [str(line) for (line,) in connection.execute(sql).fetchall() if line != "ok"]
    except UNREADABLE as error:
        return [f"a page cannot be read ({type(error).__name__})"]
    lines = [line for text in told for line in text.splitlines()]
    # SQLite names pages and indexes here, and never what is in them.
    return lines[:_MOST_LINES] + ([f"and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else [])


def _text_faults(connection: apsw.Connection) -> list[str]:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'search'").fetchall():
        return []
    try:
        connection.execute("INSERT INTO search (search) VALUES ('integrity-check')").fetchall()
    except UNREADABLE:
        return ["the full-text index is not what was written; make it again with: recollectum index rebuild"]
    return []


def _number(connection: apsw.Connection, sql: str, params: Sequence[str] = ()) -> int:
    return cast(int, connection.execute(sql, params).fetchall()[0][0])
