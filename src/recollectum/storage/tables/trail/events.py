"""Reads and writes the events table: the audit trail, by id and without content."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from recollectum.domain.event import Event, EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.message import Json
from recollectum.domain.page import LAST_NUMBER
from recollectum.storage.port import Params, Row, Tx, Value
from recollectum.storage.row_lists import Columns
from recollectum.storage.times import micros, moment

_COLUMNS = "number, at, type, subject, subject_id, actor, state, payload"
_ADD = """
    INSERT INTO events (at, type, subject, subject_id, actor, state, payload)
    VALUES (:at, :type, :subject, :subject_id, :actor, :state, :payload)
"""
_PAGE = f"""
    SELECT {_COLUMNS} FROM events
     WHERE number < :before AND (CAST(:type AS TEXT) IS NULL OR type = :type)
     ORDER BY number DESC LIMIT :limit
"""  # noqa: S608  (constants of this file)
_OF = f"SELECT {_COLUMNS} FROM events WHERE subject_id = :id ORDER BY number"  # noqa: S608
# The last event of each memory up to a time.
_STATES_AT = """
    SELECT subject_id, state FROM events
     WHERE number IN (SELECT max(number) FROM events WHERE subject = 'memory' AND at <= :when GROUP BY subject_id)
"""
_LAST_BY = """
    SELECT events.subject_id FROM memories
     INNER JOIN events ON events.number = (SELECT max(number) FROM events WHERE subject_id = memories.id)
     WHERE memories.state IN ('archived', 'soft_deleted') AND events.actor = :actor
     ORDER BY memories.number
"""

# Made once: `json.dumps` makes one for each text.
_ENCODER = json.JSONEncoder(sort_keys=True)


def add(
    tx: Tx,
    type: EventType,
    subject: str,
    subject_id: str,
    *,
    at: datetime,
    actor: str,
    state: State | None = None,
    payload: dict[str, Json] | None = None,
) -> None:
    """Write one event, in the transaction of the change that it records."""
    tx.add_rows(_ADD, [_to_row(type, subject, subject_id, at, actor, state, payload)])


def add_of_memories(
    tx: Tx,
    type: EventType,
    memories: Iterable[Memory],
    payload: Callable[[Memory], dict[str, Json]],
    *,
    at: datetime,
    actor: str,
) -> None:
    """Write one event for each of the memories, in their order."""
    new = [*memories]
    if not new:
        return
    told: dict[str, Json] | None = None
    text: str | None = None
    payloads: list[Value] = []
    for one in new:
        # Most have the same payload, such as the first version.
        if told is None or payload(one) != told:
            told = payload(one)
            text = _encoded(told)
        payloads.append(text)
    same = _to_row(type, "memory", "", at, actor, None, None)
    columns: dict[str, Sequence[Value]] = {name: [value] * len(new) for name, value in same.items()}
    columns["subject_id"] = [one.id for one in new]
    columns["state"] = [one.state.value for one in new]
    columns["payload"] = payloads
    tx.add_rows(_ADD, Columns(columns))


def _to_row(
    type: EventType,
    subject: str,
    subject_id: str,
    at: datetime,
    actor: str,
    state: State | None,
    payload: dict[str, Json] | None,
) -> Params:
    return {
        "at": micros(at),
        "type": type.value,
        "subject": subject,
        "subject_id": subject_id,
        "actor": actor,
        "state": state.value if state else None,
        "payload": _encoded(payload),
    }


def _encoded(payload: dict[str, Json] | None) -> str | None:
    return _ENCODER.encode(payload) if payload else None


def page(tx: Tx, *, before: int | None, type: EventType | None, limit: int) -> list[Event]:
    """Return the newest events before a number."""
    params = {"before": LAST_NUMBER if before is None else before, "type": type, "limit": limit}
    return [_from_row(row) for row in tx.rows(_PAGE, params)]


def of(tx: Tx, subject_id: str) -> list[Event]:
    """Return all events of one memory or session, oldest first."""
    return [_from_row(row) for row in tx.rows(_OF, {"id": subject_id})]


def states_at(tx: Tx, when: datetime) -> dict[str, State]:
    """Return the state of each memory at a time."""
    return {memory: State(state) for memory, state in tx.rows(_STATES_AT, {"when": micros(when)}) if state}


def memories_moved_by(tx: Tx, actor: str) -> list[str]:
    """Return the archived and deleted memories that an actor moved last, oldest first."""
    return [row[0] for row in tx.rows(_LAST_BY, {"actor": actor})]


def _from_row(row: Row) -> Event:
    return Event(
        number=row[0],
        at=moment(row[1]),
        type=EventType(row[2]),
        subject=row[3],
        subject_id=row[4],
        actor=row[5],
        state=State(row[6]) if row[6] else None,
        payload=json.loads(row[7]) if row[7] else {},
    )
