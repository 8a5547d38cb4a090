"""Writes the schema that the steps of a vault lead to, which a new vault gets at once: python -m tools.schema."""

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import apsw

from recollectum.storage.engine import VAULT
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import finished_file, finished_mark, migrate, shipped

_KINDS = ("table", "index", "view", "trigger")
_SCHEMA = """
    SELECT type, sql FROM sqlite_schema
     WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'migrations'
       AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
     ORDER BY rowid
"""


def main() -> None:
    """Write the file."""
    file, text = finished_file(VAULT), schema_of(VAULT)
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
        print(f"{file.name}: {len(text)} characters", file=sys.stderr)


def schema_of(family: str) -> str:
    """Return the file of a kind of database: its mark, and the statements that create the tables and all else."""
    steps = shipped(family)
    with tempfile.TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "new.db", SqliteOptions())
        try:
            migrate(database, steps, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), backup=str)
            rows = database.on_connection(_statements)
        finally:
            database.close()
    return "\n".join([finished_mark(steps), *(f"{sql};" for sql in rows), ""])


def _statements(connection: apsw.Connection) -> list[str]:
    found = [(str(kind), str(sql)) for kind, sql in connection.execute(_SCHEMA)]
    return [sql for _, sql in sorted(found, key=lambda one: _KINDS.index(one[0]))]


if __name__ == "__main__":
    main()
