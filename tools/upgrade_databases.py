"""Writes a database for every schema version: python -m tools.upgrade_databases."""

import gzip
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import apsw

from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import Migration, migrate, shipped
from tests.upgrades.rows import CATALOG, VAULT, Rows

FOLDER = Path(__file__).parents[1] / "tests" / "upgrades"
_ROWS: dict[str, Rows] = {"vault": VAULT, "catalog": CATALOG}


def main() -> None:
    """Write the missing databases; never change a stored one."""
    for family, rows in _ROWS.items():
        steps = shipped(family)
        for count in range(1, len(steps) + 1):
            target = stored(family, steps[count - 1].number)
            if target.exists():
                continue
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "old.db"
                write(path, steps[:count], rows)
                target.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
            print(f"{target.name}: {target.stat().st_size} bytes", file=sys.stderr)


def stored(family: str, step: int) -> Path:
    """Return the path of the database of one step."""
    return FOLDER / f"{family}-{step:04}.db.gz"


def write(path: Path, steps: Sequence[Migration], rows: Rows) -> None:
    """Create a database with the schema of these steps, and the rows that it supports."""
    database = SqliteDatabase(path, SqliteOptions())
    try:
        migrate(database, steps, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), backup=str)
    finally:
        database.close()
    connection = apsw.Connection(str(path))
    connection.pragma("foreign_keys", "on")
    with connection:
        for table, records in rows.items():
            columns = {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")} | {"rowid"}
            for record in records if len(columns) > 1 else ():
                known = {name: value for name, value in record.items() if name in columns}
                names, places = ", ".join(known), ", ".join(f":{name}" for name in known)
                connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", known)
    connection.pragma("journal_mode", "delete")
    connection.execute("VACUUM")
    connection.close()


if __name__ == "__main__":
    main()
