"""Reads and writes the memories table: each memory in its current state."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from recollectum.domain.errors import Conflict
from recollectum.domain.memory import Kind, Memory, State
from recollectum.domain.trust import Trust
from recollectum.storage.port import Params, Row, Tx
from recollectum.storage.times import micros, micros_or_none, moment, moment_or_none

_COLUMNS = """number, id, content, key, kind, importance, trust, author, agent, message_id, version, state,
    created_at, updated_at, valid_from, valid_to, supersedes, superseded_by,
    archive_at, retention_expires_at, expires_at, deleted_at, hard_delete_at"""

_INSERT = """
    INSERT INTO memories (id, content, key, kind, importance, trust, author, agent, message_id, version, state,
        created_at, updated_at, valid_from, valid_to, supersedes, superseded_by,
        archive_at, retention_expires_at, expires_at, deleted_at, hard_delete_at, fingerprint, due_at)
    VALUES (:id, :content, :key, :kind, :importance, :trust, :author, :agent, :message_id, :version, :state,
        :created_at, :updated_at, :valid_from, :valid_to, :supersedes, :superseded_by,
        :archive_at, :retention_expires_at, :expires_at, :deleted_at, :hard_delete_at, :fingerprint, :due_at)
    RETURNING number
"""

# The version is checked and counted up in the statement: a row that somebody changed first is not overwritten.
_UPDATE = """
    UPDATE memories
       SET content = :content, key = :key, kind = :kind, importance = :importance, trust = :trust,
           author = :author, version = :version, state = :state, updated_at = :updated_at,
           valid_from = :valid_from, valid_to = :valid_to, supersedes = :supersedes,
           superseded_by = :superseded_by, archive_at = :archive_at,
           retention_expires_at = :retention_expires_at, expires_at = :expires_at,
           deleted_at = :deleted_at, hard_delete_at = :hard_delete_at,
           fingerprint = :fingerprint, due_at = :due_at
     WHERE id = :id AND version = :expected AND state = :expected_state
    RETURNING number
"""

_BY_ID = f"SELECT {_COLUMNS} FROM memories WHERE id = :id"  # noqa: S608  (constants of this file)
_BY_IDS = f"SELECT {_COLUMNS} FROM memories WHERE id IN (SELECT value FROM texts(:ids))"  # noqa: S608
_BY_KEY = f"""
    SELECT {_COLUMNS} FROM memories
     WHERE key = :key AND state IN ('active', 'archived') AND superseded_by IS NULL
     ORDER BY state, number DESC LIMIT 1
"""  # noqa: S608
_ALIKE = f"""
    SELECT {_COLUMNS} FROM memories
     WHERE fingerprint = :fingerprint AND kind = :kind AND state IN ('active', 'archived')
       AND superseded_by IS NULL
     ORDER BY number LIMIT 8
"""  # noqa: S608
_DELETED_ALIKE = f"""
    SELECT {_COLUMNS} FROM memories
     WHERE fingerprint = :fingerprint AND kind = :kind AND state IN ('soft_deleted', 'hard_delete_pending')
"""  # noqa: S608
_PAGE = f"""
    SELECT {_COLUMNS} FROM memories
     WHERE (CAST(:before AS TEXT) IS NULL OR id < :before) AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
#: Sorts after every character a key may have.
_AFTER_KEYS = "\x7f"
# The state is written out: the index of keys holds active memories only.
_PAGE_OF_KEYS = f"""
    SELECT {_COLUMNS} FROM memories
     WHERE key >= :prefix AND key < :beyond AND state = 'active' AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
       AND (CAST(:before AS TEXT) IS NULL OR id < :before)
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
_CREATED_BY = f"SELECT {_COLUMNS} FROM memories WHERE created_at <= :when ORDER BY id"  # noqa: S608
_DUE = f"SELECT {_COLUMNS} FROM memories WHERE due_at <= :now ORDER BY due_at, number LIMIT :limit"  # noqa: S608
_ANY_DUE = "SELECT 1 WHERE EXISTS (SELECT 1 FROM memories WHERE due_at <= :now)"
_CROSSED = "SELECT 1 WHERE EXISTS (SELECT 1 FROM memories WHERE due_at > :since AND due_at <= :now)"
_DELETE = "DELETE FROM memories WHERE id = :id AND state = :state"
_ALL = f"SELECT {_COLUMNS} FROM memories ORDER BY number"  # noqa: S608
_FINDABLE = "SELECT number, content, key FROM memories WHERE state = 'active' ORDER BY number"
_FOLLOWING = f"SELECT {_COLUMNS} FROM memories WHERE number > :number ORDER BY number LIMIT :limit"  # noqa: S608
_NUMBER = "SELECT number FROM memories WHERE id = :id"
_COUNTS = "SELECT state, count(*) FROM memories GROUP BY state"


def insert(tx: Tx, memory: Memory, fingerprint: str, due_at: datetime | None) -> int:
    """Add a memory; its row number."""
    return tx.rows(_INSERT, _to_row(memory, fingerprint, due_at))[0][0]


def update(tx: Tx, before: Memory, after: Memory, fingerprint: str, due_at: datetime | None) -> int:
    """Replace `before` by `after` unless somebody changed the row first; its row number."""
    params = {**_to_row(after, fingerprint, due_at), "expected": before.version, "expected_state": before.state}
    rows = tx.rows(_UPDATE, params)
    if not rows:
        raise Conflict(f"memory {before.id!r} changed since it was read; read it again")
    return rows[0][0]


def find(tx: Tx, memory_id: str) -> Memory | None:
    """The memory with that id, in whatever state its row says."""
    return _first(tx.rows(_BY_ID, {"id": memory_id}))


def find_many(tx: Tx, ids: Sequence[str]) -> list[Memory]:
    """The memories with these ids, in the order of the ids; those that are not there are left out."""
    by_id = {one.id: one for one in map(_from_row, tx.rows(_BY_IDS, {"ids": json.dumps(ids)}))} if ids else {}
    return [by_id[one] for one in ids if one in by_id]


def find_by_key(tx: Tx, key: str) -> Memory | None:
    """The memory that holds a key: the active one, else the archived one."""
    return _first(tx.rows(_BY_KEY, {"key": key}))


def alike(tx: Tx, fingerprint: str, kind: Kind) -> list[Memory]:
    """Live memories of that kind that say the same thing, newest first."""
    # Sorted here: an ORDER BY in the statement costs more than all the rest of it.
    rows = sorted(tx.rows(_ALIKE, {"fingerprint": fingerprint, "kind": kind}), reverse=True)
    return [_from_row(row) for row in rows]


def deleted_alike(tx: Tx, fingerprint: str, kind: Kind) -> list[Memory]:
    """Deleted memories of that kind, not destroyed yet, that say the same thing."""
    return [_from_row(row) for row in tx.rows(_DELETED_ALIKE, {"fingerprint": fingerprint, "kind": kind})]


def page(
    tx: Tx,
    *,
    before: str | None,
    kind: Kind | None,
    keep: Callable[[Memory], bool],
    limit: int,
    key_prefix: str | None = None,
) -> list[Memory]:
    """The newest `limit` memories older than `before` that `keep` keeps; with a prefix, active ones under such keys."""
    kept: list[Memory] = []
    statement, values = _PAGE, {"kind": kind, "limit": limit}
    if key_prefix is not None:
        statement, values = _PAGE_OF_KEYS, {**values, "prefix": key_prefix, "beyond": key_prefix + _AFTER_KEYS}
    while len(kept) < limit:
        rows = tx.rows(statement, {**values, "before": before})
        found = [_from_row(row) for row in rows]
        kept.extend(memory for memory in found if keep(memory))
        if len(rows) < limit:
            break
        before = found[-1].id
    return kept[:limit]


def created_by(tx: Tx, when: datetime) -> Iterable[Memory]:
    """Every memory that was there at a time, as its row stands now, oldest first."""
    return map(_from_row, tx.rows(_CREATED_BY, {"when": micros(when)}))


def due(tx: Tx, now: datetime, limit: int) -> list[Memory]:
    """Memories for which the life cycle has something to do, longest due first."""
    return [_from_row(row) for row in tx.rows(_DUE, {"now": micros(now), "limit": limit})]


def any_due(tx: Tx, now: datetime) -> bool:
    """Whether the life cycle has something to do."""
    return bool(tx.rows(_ANY_DUE, {"now": micros(now)}))


def any_due_between(tx: Tx, since: datetime, now: datetime) -> bool:
    """Whether a deadline passed in that time."""
    return bool(tx.rows(_CROSSED, {"since": micros(since), "now": micros(now)}))


def everything(tx: Tx) -> Iterable[tuple[int, Memory]]:
    """Every memory with its row number, in the order of writing."""
    return ((row[0], _from_row(row)) for row in tx.rows(_ALL, {}))


def findable(tx: Tx) -> list[tuple[int, str, str | None]]:
    """What the index is made from: the row number, content and key of every active memory, in the order of writing."""
    return [(number, content, key) for number, content, key in tx.rows(_FINDABLE, {})]


def following(tx: Tx, number: int, limit: int) -> list[tuple[int, Memory]]:
    """The memories after a row number, whatever their state, with their row numbers."""
    return [(row[0], _from_row(row)) for row in tx.rows(_FOLLOWING, {"number": number, "limit": limit})]


def delete(tx: Tx, memory: Memory) -> bool:
    """Destroy the row, if it is still in the state it was read in."""
    return tx.run(_DELETE, {"id": memory.id, "state": memory.state}) == 1


def number_of(tx: Tx, memory_id: str) -> int | None:
    """The row number of a memory."""
    rows = tx.rows(_NUMBER, {"id": memory_id})
    return rows[0][0] if rows else None


def counts(tx: Tx) -> dict[State, int]:
    """How many rows are in each state."""
    return {State(state): count for state, count in tx.rows(_COUNTS, {})}


def _first(rows: list[Row]) -> Memory | None:
    return _from_row(rows[0]) if rows else None


def _from_row(row: Row) -> Memory:
    return Memory(
        id=row[1],
        content=row[2],
        key=row[3],
        kind=Kind(row[4]),
        importance=row[5],
        trust=Trust(row[6]),
        author=row[7],
        agent=row[8],
        message_id=row[9],
        version=row[10],
        state=State(row[11]),
        created_at=moment(row[12]),
        updated_at=moment(row[13]),
        valid_from=moment_or_none(row[14]),
        valid_to=moment_or_none(row[15]),
        supersedes=row[16],
        superseded_by=row[17],
        archive_at=moment_or_none(row[18]),
        retention_expires_at=moment_or_none(row[19]),
        expires_at=moment_or_none(row[20]),
        deleted_at=moment_or_none(row[21]),
        hard_delete_at=moment_or_none(row[22]),
    )


def _to_row(memory: Memory, fingerprint: str, due_at: datetime | None) -> Params:
    return {
        "id": memory.id,
        "content": memory.content,
        "key": memory.key,
        "kind": memory.kind.value,
        "importance": memory.importance,
        "trust": memory.trust.value,
        "author": memory.author,
        "agent": memory.agent,
        "message_id": memory.message_id,
        "version": memory.version,
        "state": memory.state.value,
        "created_at": micros(memory.created_at),
        "updated_at": micros(memory.updated_at),
        "valid_from": micros_or_none(memory.valid_from),
        "valid_to": micros_or_none(memory.valid_to),
        "supersedes": memory.supersedes,
        "superseded_by": memory.superseded_by,
        "archive_at": micros_or_none(memory.archive_at),
        "retention_expires_at": micros_or_none(memory.retention_expires_at),
        "expires_at": micros_or_none(memory.expires_at),
        "deleted_at": micros_or_none(memory.deleted_at),
        "hard_delete_at": micros_or_none(memory.hard_delete_at),
        "fingerprint": fingerprint,
        "due_at": micros_or_none(due_at),
    }
