"""Reads and writes the seals table: a checksum per row, and the rows that no longer match theirs."""

import json
from collections.abc import Sequence

from recollectum.storage.port import Tx
from recollectum.storage.tables.trail import meta

#: The names of the SQL functions in these statements.
DIGEST = "recollectum_seal"
NUMBER = "recollectum_seal_number"

#: The sealed tables, with the key of a row; one of its columns is a number that never changes.
SOURCES: dict[str, tuple[str, ...]] = {
    "memories": ("number",),
    "memory_versions": ("memory_id", "version"),
    "undo_rows": ("number",),
    "events": ("number",),
    "messages": ("number",),
    "sessions": ("id",),
    "summaries": ("session_id",),
    "checkpoints": ("name",),
    "citations": ("memory_id", "message_id", "start", "stop"),
    "proposals": ("id",),
    "notes": ("number",),
    "note_folders": ("number",),
    "transcript_roots": ("number",),
    "shell_commands": ("id",),
    "documents": ("name",),
}
#: The column by which a person knows a row, if there is one.
_KNOWN_BY = {
    "memories": "id",
    "memory_versions": "memory_id",
    "undo_rows": "memory_id",
    "events": "subject_id",
    "messages": "id",
    "sessions": "id",
    "summaries": "session_id",
    "checkpoints": "session_id",
    "citations": "memory_id",
    "proposals": "id",
    "shell_commands": "id",
    "documents": "name",
}

#: The name in meta: the tables in which every row has a seal.
MARK = "sealed"
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"

_COLUMNS = "SELECT name FROM pragma_table_info(:source, 'main') ORDER BY cid"
_CHANGED = """
    SELECT {known} FROM {source} AS it LEFT JOIN seals ON seals.source = '{source}' AND seals.number = {number}
     WHERE seals.digest IS NOT {digest} AND (:whole OR seals.digest IS NOT NULL)
"""
_READ = "SELECT sum(length(concat({values}))) FROM {source} AS it"
_ORPHANED = (
    "SELECT count(*) FROM seals WHERE source = '{source}' AND number NOT IN (SELECT {number} FROM {source} AS it)"
)
_FOREIGN = "SELECT count(*) FROM seals WHERE source NOT IN (SELECT value FROM json_each(:sources))"
_SEAL = """
    INSERT INTO seals (source, number, digest) SELECT '{source}', {number}, {digest} FROM {source} AS it
     WHERE {number} NOT IN (SELECT number FROM seals WHERE source = '{source}')
"""
_SURPLUS = "SELECT (SELECT count(*) FROM seals) - {rows}"
_CLEAR = "DELETE FROM seals"
_UNMARK = "DELETE FROM meta WHERE name = :name"
_THERE = "SELECT EXISTS (SELECT 1 FROM seals) OR EXISTS (SELECT 1 FROM meta WHERE name = :name)"


def number_of(keys: Sequence[str], row: str) -> str:
    """Return the SQL expression for the number of a row."""
    listed = ", ".join(f"{row}.{key}" for key in keys)
    return listed if keys == ("number",) else f"{NUMBER}({listed})"


def digest_of(columns: Sequence[str], row: str) -> str:
    """Return the SQL expression for the seal of a row."""
    return f"{DIGEST}({', '.join(f'{row}.{column}' for column in columns)})"


def are_whole(tx: Tx) -> bool:
    """Return whether every row has been sealed, so that a missing seal means a damaged row."""
    return {*_sources(tx)} <= {*(meta.find(tx, MARK) or "").split()}


def are_there(tx: Tx) -> bool:
    """Return whether any seal exists."""
    return bool(tx.rows(_THERE, {"name": MARK})[0][0])


def damaged(tx: Tx) -> int:
    """Count the rows that differ from what was written, and the rows that are gone.

    A row whose key has changed counts once: it has no seal, and its seal has no row.
    """
    if not tx.has_seals:
        return 0
    found = len(changed(tx))
    if not found and are_whole(tx) and not _surplus(tx):
        # Each row has its seal, and no seal is left over.
        return 0
    return max(found, orphaned(tx))


def changed(tx: Tx) -> list[tuple[str, str]]:
    """Return the rows that differ from what was written: the table of each, and its id or number."""
    if not are_there(tx):
        # An encrypted vault has no seals: reading a page checks its authentication tag. So every value is read.
        for source in _sources(tx):
            tx.rows(_filled(tx, _READ, source), {})
        return []
    whole = are_whole(tx)
    return [
        (source, str(known))
        for source in _sources(tx)
        for (known,) in tx.rows(_filled(tx, _CHANGED, source), {"whole": whole})
    ]


def orphaned(tx: Tx) -> int:
    """Count the seals without a row: the row is gone, or its key has changed."""
    if not are_there(tx):
        return 0
    (foreign,) = tx.rows(_FOREIGN, {"sources": json.dumps(list(SOURCES))})[0]
    counts = [tx.rows(_filled(tx, _ORPHANED, source), {})[0][0] for source in _sources(tx)]
    return foreign + sum(counts)


def seal(tx: Tx) -> None:
    """Seal each row that has no seal, and record that all have one."""
    found = _sources(tx)
    for source in found:
        tx.run(_filled(tx, _SEAL, source), {})
    meta.save(tx, MARK, " ".join(found))


def clear(tx: Tx) -> None:
    """Delete all seals."""
    tx.run(_CLEAR, {})
    tx.run(_UNMARK, {"name": MARK})


def _sources(tx: Tx) -> list[str]:
    """Return the sealed tables of this file; one from an earlier version has fewer."""
    there = {name for (name,) in tx.rows(_TABLES, {})}
    return [one for one in SOURCES if one in there]


def _surplus(tx: Tx) -> int:
    """Return how many seals there are more than rows."""
    rows = " - ".join(f"(SELECT count(*) FROM {one})" for one in _sources(tx))  # noqa: S608
    return tx.rows(_SURPLUS.format(rows=rows), {})[0][0]


def _filled(tx: Tx, sql: str, source: str) -> str:
    columns = [name for (name,) in tx.rows(_COLUMNS, {"source": source})]
    return sql.format(
        source=source,
        known=f"it.{_KNOWN_BY.get(source, 'number')}",
        number=number_of(SOURCES[source], "it"),
        digest=digest_of(columns, "it"),
        values=", ".join(f"it.{column}" for column in columns),
    )
