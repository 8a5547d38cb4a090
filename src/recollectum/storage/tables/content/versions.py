"""Reads and writes the memory_versions table: earlier texts of changed memories."""

from datetime import datetime

from recollectum.domain.memory import Kind, Memory, Version
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, micros_or_none, moment, moment_or_none

_COLUMNS = """memory_id, version, content, key, kind, importance, valid_from, valid_to,
    recorded_at, replaced_at, author"""
_KEEP = f"""
    INSERT INTO memory_versions ({_COLUMNS})
    VALUES (:memory_id, :version, :content, :key, :kind, :importance, :valid_from, :valid_to,
        coalesce((SELECT replaced_at FROM memory_versions WHERE memory_id = :memory_id ORDER BY version DESC LIMIT 1),
            :created_at),
        :replaced_at, :author)
"""  # noqa: S608  (constants of this file)
_OF = f"SELECT {_COLUMNS} FROM memory_versions WHERE memory_id = :id ORDER BY version"  # noqa: S608
_AT = f"""
    SELECT {_COLUMNS} FROM memory_versions
     WHERE recorded_at <= :when AND replaced_at > :when
"""  # noqa: S608
_PURGE = "DELETE FROM memory_versions WHERE memory_id = :id"


def keep(tx: Tx, memory: Memory, replaced_at: datetime) -> None:
    """Store the current text of a memory, before it is changed."""
    tx.run(
        _KEEP,
        {
            "memory_id": memory.id,
            "version": memory.version,
            "content": memory.content,
            "key": memory.key,
            "kind": memory.kind,
            "importance": memory.importance,
            "valid_from": micros_or_none(memory.valid_from),
            "valid_to": micros_or_none(memory.valid_to),
            "created_at": micros(memory.created_at),
            "replaced_at": micros(replaced_at),
            "author": memory.author,
        },
    )


def of(tx: Tx, memory_id: str) -> list[Version]:
    """Return the earlier versions of a memory, oldest first."""
    return [_from_row(row) for row in tx.rows(_OF, {"id": memory_id})]


def standing_at(tx: Tx, when: datetime) -> dict[str, Version]:
    """Return, for each memory that has changed since a time, the version that was current then."""
    found = (_from_row(row) for row in tx.rows(_AT, {"when": micros(when)}))
    return {version.memory_id: version for version in found}


def purge(tx: Tx, memory_id: str) -> int:
    """Delete the earlier versions of a memory."""
    return tx.run(_PURGE, {"id": memory_id})


def _from_row(row: Row) -> Version:
    return Version(
        memory_id=row[0],
        version=row[1],
        content=row[2],
        key=row[3],
        kind=Kind(row[4]),
        importance=row[5],
        valid_from=moment_or_none(row[6]),
        valid_to=moment_or_none(row[7]),
        recorded_at=moment(row[8]),
        replaced_at=moment_or_none(row[9]),
        author=row[10],
    )
