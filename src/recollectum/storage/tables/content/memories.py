"""Reads and writes the memories table: each memory in its current state."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple, TypeVar

from recollectum.domain.errors import Conflict
from recollectum.domain.memory import Kind, Memory, State
from recollectum.domain.trust import Trust
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Params, Row, Tx, Value
from recollectum.storage.row_lists import Columns
from recollectum.storage.times import micros, micros_or_none, moment, moment_or_none

T = TypeVar("T")

#: The columns that `from_row` takes.
COLUMNS = """number, id, content, key, kind, importance, trust, author, agent, message_id, version, state,
    created_at, updated_at, valid_from, valid_to, supersedes, superseded_by,
    archive_at, retention_expires_at, expires_at, deleted_at, hard_delete_at, project"""

#: The columns of a memory as `_to_columns` converts them: not at all, by the name of a member, and as a time.
_PLAIN = [
    "id",
    "content",
    "key",
    "importance",
    "author",
    "agent",
    "message_id",
    "version",
    "supersedes",
    "superseded_by",
    "project",
]
_NAMED = ("kind", "trust", "state")
_TIMES = [
    "created_at",
    "updated_at",
    "valid_from",
    "valid_to",
    "archive_at",
    "retention_expires_at",
    "expires_at",
    "deleted_at",
    "hard_delete_at",
]

_INSERT = """
    INSERT INTO memories (id, content, key, kind, importance, trust, author, agent, message_id, version, state,
        created_at, updated_at, valid_from, valid_to, supersedes, superseded_by,
        archive_at, retention_expires_at, expires_at, deleted_at, hard_delete_at, fingerprint, due_at, no_contacts,
        project)
    VALUES (:id, :content, :key, :kind, :importance, :trust, :author, :agent, :message_id, :version, :state,
        :created_at, :updated_at, :valid_from, :valid_to, :supersedes, :superseded_by,
        :archive_at, :retention_expires_at, :expires_at, :deleted_at, :hard_delete_at, :fingerprint, :due_at,
        :no_contacts, :project)
    RETURNING number
"""

# The statement checks and increments the version, so that a row that somebody changed first is not overwritten.
_UPDATE = """
    UPDATE memories
       SET content = :content, key = :key, kind = :kind, importance = :importance, trust = :trust,
           author = :author, version = :version, state = :state, updated_at = :updated_at,
           valid_from = :valid_from, valid_to = :valid_to, supersedes = :supersedes,
           superseded_by = :superseded_by, archive_at = :archive_at,
           retention_expires_at = :retention_expires_at, expires_at = :expires_at,
           deleted_at = :deleted_at, hard_delete_at = :hard_delete_at,
           fingerprint = :fingerprint, due_at = :due_at, no_contacts = :no_contacts
     WHERE id = :id AND version = :expected AND state = :expected_state
    RETURNING number
"""

_BY_ID = f"SELECT {COLUMNS} FROM memories WHERE id = :id"  # noqa: S608  (constants of this file)
_BY_IDS = f"SELECT {COLUMNS} FROM memories WHERE id IN (SELECT value FROM texts(:ids))"  # noqa: S608
# The state is a literal: the index of keys holds active memories only. An archived one is looked for only when there is
# no active one.
_IN_PROJECT = "coalesce(project, '') = :project"
_BY_KEY = f"""
    SELECT {COLUMNS} FROM memories
     WHERE key = :key AND state = 'active' AND superseded_by IS NULL AND {_IN_PROJECT}
"""  # noqa: S608
_ARCHIVED_BY_KEY = f"""
    SELECT {COLUMNS} FROM memories
     WHERE number = (SELECT max(number) FROM (
        SELECT number FROM memories
         WHERE no_contacts IS NULL AND state = 'archived' AND key = :key AND superseded_by IS NULL
           AND {_IN_PROJECT}
        UNION ALL
        SELECT number FROM memories
         WHERE no_contacts = 1 AND state = 'archived' AND key = :key AND superseded_by IS NULL
           AND {_IN_PROJECT}) AS found)
"""  # noqa: S608
_ALIKE = f"""
    SELECT {COLUMNS} FROM memories
     WHERE fingerprint = :fingerprint AND kind = :kind AND state IN ('active', 'archived')
       AND superseded_by IS NULL AND {_IN_PROJECT}
     ORDER BY number LIMIT 8
"""  # noqa: S608
# For many at once: which of these texts and keys a live memory has. Each part of the second is read by its index.
_KNOWN_MARKS = """
    SELECT fingerprint FROM memories
     WHERE fingerprint IN (SELECT value FROM names(:marks)) AND state IN ('active', 'archived')
       AND superseded_by IS NULL
"""
_KNOWN_KEYS = """
    SELECT key FROM memories
     WHERE key IN (SELECT value FROM names(:keys)) AND state = 'active' AND superseded_by IS NULL
    UNION ALL
    SELECT key FROM memories
     WHERE no_contacts IS NULL AND state = 'archived' AND key IN (SELECT value FROM names(:keys))
       AND superseded_by IS NULL
    UNION ALL
    SELECT key FROM memories
     WHERE no_contacts = 1 AND state = 'archived' AND key IN (SELECT value FROM names(:keys))
       AND superseded_by IS NULL
"""
_DELETED_ALIKE = f"""
    SELECT {COLUMNS} FROM memories
     WHERE fingerprint = :fingerprint AND kind = :kind AND state IN ('soft_deleted', 'hard_delete_pending')
       AND {_IN_PROJECT}
"""  # noqa: S608
_CREATED_BY = f"SELECT {COLUMNS} FROM memories WHERE created_at <= :when ORDER BY id"  # noqa: S608
_DUE = f"SELECT {COLUMNS} FROM memories WHERE due_at <= :now ORDER BY due_at, number LIMIT :limit"  # noqa: S608
_ANY_DUE = "SELECT 1 WHERE EXISTS (SELECT 1 FROM memories WHERE due_at <= :now)"
_CROSSED = "SELECT 1 WHERE EXISTS (SELECT 1 FROM memories WHERE due_at > :since AND due_at <= :now)"
_DELETE = "DELETE FROM memories WHERE id = :id AND state = :state"
_ALL = f"SELECT {COLUMNS} FROM memories ORDER BY number"  # noqa: S608
_FINDABLE = "SELECT number, content, key FROM memories WHERE state = 'active' ORDER BY number"
_FOLLOWING = f"SELECT {COLUMNS} FROM memories WHERE number > :number ORDER BY number LIMIT :limit"  # noqa: S608
_NUMBER = "SELECT number FROM memories WHERE id = :id"
# In two parts, so that each is read in the order of the index.
_COUNTS = """
    SELECT state, count(*) FROM memories WHERE no_contacts IS NULL GROUP BY state
    UNION ALL
    SELECT state, count(*) FROM memories WHERE no_contacts = 1 GROUP BY state
"""
# As policy.lifecycle.state_at decides; only due rows can differ from what is stored.
_DUE_COUNTS = """
    SELECT state, seen, count(*) FROM (
        SELECT state, CASE
               WHEN state = 'soft_deleted' AND hard_delete_at <= :policy_now THEN 'hard_delete_pending'
               WHEN state NOT IN ('active', 'archived') THEN state
               WHEN expires_at <= :now OR retention_expires_at <= :policy_now THEN 'soft_deleted'
               WHEN archive_at <= :policy_now THEN 'archived'
               ELSE state END AS seen
          FROM memories WHERE due_at <= :now) AS due
     WHERE state <> seen GROUP BY state, seen
"""


class NewRows(NamedTuple):
    """Memories that are added, with the fingerprint and the deadline of each."""

    memories: Sequence[Memory]
    fingerprints: Sequence[str]
    due_at: Sequence[datetime | None]
    #: Whether each certainly tells of no person and no address; False is not known.
    tell_of_nobody: Sequence[bool]


def insert(tx: Tx, memory: Memory, fingerprint: str, due_at: datetime | None) -> int:
    """Add a memory, and return its row number."""
    return tx.rows(_INSERT, _to_row(memory, fingerprint, due_at))[0][0]


def insert_many(tx: Tx, added: NewRows) -> list[int]:
    """Add memories, and return their row numbers in order."""
    if not added.memories:
        return []
    # Numbers only grow, so their order is that of the rows.
    return sorted([row[0] for row in tx.add_rows(_INSERT, Columns(_to_columns(added)))])


def update(tx: Tx, before: Memory, after: Memory, fingerprint: str, due_at: datetime | None) -> int:
    """Replace `before` by `after` unless the row was changed first; return its row number."""
    params = {**_to_row(after, fingerprint, due_at), "expected": before.version, "expected_state": before.state}
    rows = tx.rows(_UPDATE, params)
    if not rows:
        raise Conflict(f"memory {before.id!r} changed since it was read; read it again")
    return rows[0][0]


def find(tx: Tx, memory_id: str) -> Memory | None:
    """Return the memory with that id, in any state, or None."""
    return _first(tx.rows(_BY_ID, {"id": memory_id}))


def find_many(tx: Tx, ids: Sequence[str]) -> list[Memory]:
    """Return the memories with these ids, in the order of the ids; missing ones are left out."""
    by_id = {one.id: one for one in map(from_row, tx.rows(_BY_IDS, {"ids": json.dumps(ids)}))} if ids else {}
    return [by_id[one] for one in ids if one in by_id]


def find_by_key(tx: Tx, key: str, project: str | None) -> Memory | None:
    """Return the memory that holds a key in a project, or personally: the active one, else the archived one."""
    params = {"key": key, "project": project or ""}
    return _first(tx.rows(_BY_KEY, params) or tx.rows(_ARCHIVED_BY_KEY, params))


def alike(tx: Tx, fingerprint: str, kind: Kind, project: str | None) -> list[Memory]:
    """Return the live memories of that kind and project with the same text, newest first."""
    params = {"fingerprint": fingerprint, "kind": kind, "project": project or ""}
    # Sort in Python: an ORDER BY in the statement costs more than the rest of it.
    rows = sorted(tx.rows(_ALIKE, params), key=lambda row: row[0], reverse=True)
    return [from_row(row) for row in rows]


def known_marks(tx: Tx, fingerprints: Sequence[str]) -> set[str]:
    """Return those of the fingerprints that a live memory has."""
    return {row[0] for row in tx.rows(_KNOWN_MARKS, {"marks": json.dumps(fingerprints)})} if fingerprints else set()


def known_keys(tx: Tx, keys: Sequence[str]) -> set[str]:
    """Return those of the keys that a live memory has."""
    return {row[0] for row in tx.rows(_KNOWN_KEYS, {"keys": json.dumps(keys)})} if keys else set()


def deleted_alike(tx: Tx, fingerprint: str, kind: Kind, project: str | None) -> list[Memory]:
    """Return the soft-deleted memories of that kind and project with the same text."""
    params = {"fingerprint": fingerprint, "kind": kind, "project": project or ""}
    return [from_row(row) for row in tx.rows(_DELETED_ALIKE, params)]


def created_by(tx: Tx, when: datetime) -> Iterable[Memory]:
    """Return every memory that was created by a time, as its row is now, oldest first."""
    return map(from_row, tx.rows(_CREATED_BY, {"when": micros(when)}))


def due(tx: Tx, now: datetime, limit: int) -> list[Memory]:
    """Return the memories whose life cycle has a step due, longest due first."""
    return [from_row(row) for row in tx.rows(_DUE, {"now": micros(now), "limit": limit})]


def any_due(tx: Tx, now: datetime) -> bool:
    """Return whether a step of the life cycle is due."""
    return bool(tx.rows(_ANY_DUE, {"now": micros(now)}))


def any_due_between(tx: Tx, since: datetime, now: datetime) -> bool:
    """Return whether a deadline passed between two times."""
    return bool(tx.rows(_CROSSED, {"since": micros(since), "now": micros(now)}))


def everything(tx: Tx) -> Iterable[tuple[int, Memory]]:
    """Return every memory with its row number, in insertion order."""
    return ((row[0], from_row(row)) for row in tx.rows(_ALL, {}))


def findable(tx: Tx) -> list[tuple[int, str, str | None]]:
    """Return the input of the index: row number, content and key of every active memory, in insertion order."""
    return [(number, content, key) for number, content, key in tx.rows(_FINDABLE, {})]


def following(tx: Tx, number: int, limit: int) -> list[tuple[int, Memory]]:
    """Return the memories after a row number, in any state, with their row numbers."""
    return [(row[0], from_row(row)) for row in tx.rows(_FOLLOWING, {"number": number, "limit": limit})]


def delete(tx: Tx, memory: Memory) -> bool:
    """Delete the row, if its state has not changed since it was read."""
    return tx.run(_DELETE, {"id": memory.id, "state": memory.state}) == 1


def number_of(tx: Tx, memory_id: str) -> int | None:
    """Return the row number of a memory."""
    rows = tx.rows(_NUMBER, {"id": memory_id})
    return rows[0][0] if rows else None


def counts(tx: Tx) -> dict[State, int]:
    """Return the number of rows in each state, in the order of the states' names."""
    found: Counter[State] = Counter()
    for state, count in tx.rows(_COUNTS, {}):
        found[State(state)] += count
    # A server returns the groups in any order.
    return dict(sorted(found.items()))


def counts_seen(tx: Tx, reading: ClockReading) -> dict[State, int]:
    """Return the number of memories in each state as readers see it, whether or not a sweep has run."""
    found = Counter(counts(tx))
    times = {"now": micros(reading.now), "policy_now": micros(reading.policy_now)}
    for stored, seen, count in tx.rows(_DUE_COUNTS, times):
        found[State(stored)] -= count
        found[State(seen)] += count
    return {state: count for state, count in sorted(found.items()) if count}


def _first(rows: list[Row]) -> Memory | None:
    return from_row(rows[0]) if rows else None


def from_row(row: Row) -> Memory:
    """Return the memory in a row of COLUMNS."""
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
        project=row[23],
    )


def _to_columns(added: NewRows) -> dict[str, Sequence[Value]]:
    """Return the columns of the rows that `_to_row` makes; that takes less time than a mapping for each row."""
    new = added.memories
    columns: dict[str, Sequence[Value]] = {name: [*map(attrgetter(name), new)] for name in _PLAIN}
    for name in _NAMED:
        columns[name] = _converted([*map(attrgetter(name), new)], _value)
    for name in _TIMES:
        columns[name] = _converted([*map(attrgetter(name), new)], micros_or_none)
    columns["fingerprint"] = added.fingerprints
    columns["due_at"] = _converted(added.due_at, micros_or_none)
    pairs = zip(added.tell_of_nobody, new, strict=True)
    columns["no_contacts"] = [1 if tells_of_nobody else _no_contacts(one) for tells_of_nobody, one in pairs]
    return columns


def _no_contacts(memory: Memory) -> int | None:
    # Imported here: its patterns take a while to compile, and only writers need them.
    from recollectum.text.contacts.hints import may_mention  # noqa: PLC0415

    return None if may_mention(memory.content, memory.key) else 1


def _converted(values: Sequence[T], convert: Callable[[T], Value]) -> list[Value]:
    """Return a column of new rows as it is stored: most have the same time or the same kind."""
    if values.count(values[0]) == len(values):
        return [convert(values[0])] * len(values)
    return [convert(one) for one in values]


def _value(named: StrEnum) -> str:
    return named.value


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
        "project": memory.project,
        "no_contacts": _no_contacts(memory),
    }
