"""Migrates a database to the shipped schema, one numbered step per transaction."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

import apsw

from recollectum.domain.errors import SchemaEdited, SchemaNewer, StorageError
from recollectum.domain.ids import Clock
from recollectum.storage.sqlite.database import SqliteDatabase, checkpoint
from recollectum.storage.times import micros

_FOLDER = Path(__file__).parents[1] / "migrations"

_LEDGER = """
    CREATE TABLE IF NOT EXISTS migrations (
        number     INTEGER PRIMARY KEY,
        name       TEXT NOT NULL,
        digest     TEXT NOT NULL,
        applied_at INTEGER NOT NULL
    ) STRICT
"""
#: White space or a comment; then: text in quotes, a mark with the gaps around it, or a gap.
_GAP = r"(?:\s|--[^\n]*+)"
_WORDS = re.compile(rf"('(?:[^']|'')*+')|{_GAP}*+([(),;<>=]+){_GAP}*+|{_GAP}++")
#: In a STRICT table the two words mean the same, but for the key that is the number of a row.
_INTEGER = re.compile(r"\bINTEGER\b(?! PRIMARY KEY)")
#: Characters of a step's digest: the ledger of a new vault stays within one page.
_DIGEST = 32
_RECORD = "INSERT INTO migrations (number, name, digest, applied_at) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step."""

    number: int
    name: str
    sql: str

    @property
    def label(self) -> str:
        """Return the name of the step for people."""
        return f"{self.number:04} {self.name}"

    @property
    def digest(self) -> str:
        """Return the digest stored in the ledger, which shows that a step was edited after it ran."""
        return hashlib.sha256(self.sql.encode()).hexdigest()[:_DIGEST]


def shipped(family: str) -> tuple[Migration, ...]:
    """Return the steps of one kind of database, in order."""
    files = sorted((_FOLDER / family).glob("*.sqlite.sql"))
    return tuple(Migration(int(file.name[:4]), file.name[5:-11], file.read_text("utf-8")) for file in files)


def pending(database: SqliteDatabase, steps: Sequence[Migration]) -> tuple[Migration, ...]:
    """Return the steps that have not run yet; raise for a newer or edited database."""
    return database.on_connection(lambda connection: _pending(connection, steps, database.path))


def migrate(
    database: SqliteDatabase,
    steps: Sequence[Migration],
    *,
    clock: Clock,
    backup: Callable[[str], object],
    compact: bool = True,
) -> tuple[Migration, ...]:
    """Run the pending steps; back up a database that holds data before the first one."""
    due = pending(database, steps)
    if not due:
        # Another process may have run the steps since this one opened the file.
        database.seal_writes(anew=False)
        return ()
    if due[0].number > 1:
        backup(f"before-{due[0].number:04}")
    applied = [step for step in due if _apply(database, step, steps, clock, compact=compact)]
    if due[0].number == 1 and compact:
        # The steps leave free pages behind, which would be most of a new file.
        database.on_connection(lambda connection: connection.execute("VACUUM").fetchall())
    database.on_connection(checkpoint)
    database.seal_writes(anew=True)
    return tuple(applied)


def _pending(connection: apsw.Connection, steps: Sequence[Migration], path: Path) -> tuple[Migration, ...]:
    applied = _applied(connection)
    if applied and max(applied) > steps[-1].number:
        raise SchemaNewer(
            f"{path} was written by a newer Recollectum (schema {max(applied)}, this one knows {steps[-1].number}); "
            "upgrade the program"
        )
    for step in steps:
        if step.number in applied and applied[step.number][:_DIGEST] != step.digest:
            raise SchemaEdited(
                f"{path}: schema step {step.number} ({step.name}) is not the one that was applied; "
                "install the release that made this file"
            )
    return tuple(step for step in steps if step.number not in applied)


def _applied(connection: apsw.Connection) -> dict[int, str]:
    try:
        rows = cast(list[tuple[int, str]], connection.execute("SELECT number, digest FROM migrations").fetchall())
        return dict(rows)
    except apsw.SQLError:
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchall() != [(0,)]:
            raise StorageError(f"{connection.filename} is a database, but not one of Recollectum's") from None
        return {}


@cache
def without_comments(sql: str) -> str:
    """Return statements without comments and needless letters: SQLite stores the text of a schema in every file."""
    return _INTEGER.sub("INT", _WORDS.sub(lambda found: found[1] or found[2] or " ", sql).strip())


def _apply(
    database: SqliteDatabase, step: Migration, steps: Sequence[Migration], clock: Clock, *, compact: bool
) -> bool:
    """Run one step, unless another process ran it while this one waited for its turn."""

    def run(connection: apsw.Connection) -> bool:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if step not in _pending(connection, steps, database.path):
                return False
            for sql in (_LEDGER, step.sql):
                connection.execute(without_comments(sql) if compact else sql).fetchall()
            connection.execute(_RECORD, (step.number, step.name, step.digest, micros(clock())))
            connection.execute("COMMIT")
            return True
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    return database.on_connection(run)
