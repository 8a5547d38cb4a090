"""Compares the indexes of a database with those that the shipped steps make."""

import re
from collections.abc import Iterator

from recollectum.storage.engine import ServerFinding
from recollectum.storage.postgres.connections.connection import Connected
from recollectum.storage.postgres.migrate import SCHEMAS, SchemaStep, shipped

TOPIC = "indexes"
_MOST_NAME = 63
_COMMENT = re.compile(r"--[^\n]*")
#: The lines of a step: what begins a table, ends it, and makes an index inside.
_TABLE = re.compile(r"CREATE TABLE (?P<table>\w+) \(")
_END = ")"
_INDEX = re.compile(r"^CREATE (?:UNIQUE )?INDEX (?P<name>\w+) ON", re.MULTILINE)
_DROPPED = re.compile(r"^DROP INDEX (?:IF EXISTS )?(?P<name>\w+);|^DROP TABLE (?P<table>\w+);", re.MULTILINE)
_PRIMARY = re.compile(r"\bPRIMARY KEY\b")
_UNIQUE = re.compile(r"UNIQUE \((?P<columns>[\w, ]+)\)")
_UNIQUE_COLUMN = re.compile(r"(?P<column>\w+) [^(]*\bUNIQUE\b")
_PRESENT = """
    SELECT n.nspname, t.relname, c.relname, i.indisvalid AND i.indisready
      FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_class AS t ON t.oid = i.indrelid
      JOIN pg_namespace AS n ON n.oid = t.relnamespace
     WHERE n.nspname = ANY (%s) AND t.relname <> 'migrations'
     ORDER BY 1, 2, 3
"""


def shipped_indexes() -> set[tuple[str, str]]:
    """Return the schema and the name of each index that the shipped steps make."""
    found: set[tuple[str, str]] = set()
    for step in shipped():
        # A step may drop an index and make another one of the same name.
        found -= {(SCHEMAS[step.family], name) for name in _dropped(step)}
        found |= {(SCHEMAS[step.family], name) for name in _made(step)}
    return found


def _made(step: SchemaStep) -> Iterator[str]:
    text = _COMMENT.sub("", step.sql)
    yield from (found["name"] for found in _INDEX.finditer(text))
    table = ""
    for line in text.splitlines():
        if begun := _TABLE.fullmatch(line):
            table = begun["table"]
        elif line.startswith(_END):
            table = ""
        elif table:
            yield from _made_by(table, line.strip())


def _made_by(table: str, line: str) -> Iterator[str]:
    """Yield the names of the indexes that a line of a table makes."""
    if _PRIMARY.search(line):
        yield f"{table}_pkey"
    if unique := _UNIQUE.match(line):
        yield "_".join([table, *unique["columns"].split(", "), "key"])[:_MOST_NAME]
    elif column := _UNIQUE_COLUMN.match(line):
        yield f"{table}_{column['column']}_key"


def _dropped(step: SchemaStep) -> Iterator[str]:
    """Return the indexes that a step drops; a table takes its own with it, whose names begin with the table's."""
    for found in _DROPPED.finditer(_COMMENT.sub("", step.sql)):
        if found["name"]:
            yield found["name"]
        else:
            made = {name for one in shipped() if one.number < step.number for name in _made(one)}
            yield from (name for name in made if name.startswith(f"{found['table']}_"))


def indexes(connection: Connected) -> Iterator[ServerFinding]:
    """Check that every shipped index exists, and that all are valid."""
    rows = connection.execute(_PRESENT, ([*SCHEMAS.values()],), prepare=False).fetchall()
    missing = sorted(shipped_indexes() - {(schema, name) for schema, _, name, _ in rows})
    for schema, name in missing:
        yield ServerFinding(
            topic=TOPIC,
            severity="problem",
            words=f"the index {schema}.{name} of the schema is missing, so statements that need it get slow",
            cure="create it as the migrator with its line in the schema step, or restore the database",
        )
    broken = [(schema, name) for schema, _, name, is_valid in rows if not is_valid]
    for schema, name in broken:
        yield ServerFinding(
            topic=TOPIC,
            severity="problem",
            words=f"the index {schema}.{name} is invalid, so the server does not use it",
            cure=f"as the migrator: REINDEX INDEX CONCURRENTLY {schema}.{name}",
        )
    if not missing and not broken:
        yield ServerFinding(topic=TOPIC, severity="fine", words=f"all {len(rows)} are there and valid")
