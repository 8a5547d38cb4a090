"""Reads the newest archived memories, so that recall can say how many of them match a question."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from recollectum.domain.event import EventType
from recollectum.domain.memory import Kind
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Params, Tx
from recollectum.storage.tables.index.search_filters import ARCHIVED_MEMORY
from recollectum.storage.times import micros

# Each part is one step into an index.
_MARK = """
    SELECT EXISTS (SELECT 1 FROM memories WHERE no_contacts IS NULL AND state = 'archived')
        OR EXISTS (SELECT 1 FROM memories WHERE no_contacts = 1 AND state = 'archived')
        OR EXISTS (SELECT 1 FROM memories WHERE due_at <= :now),
           (SELECT max(number) FROM events), (SELECT at FROM events ORDER BY number DESC LIMIT 1),
           (SELECT min(due_at) FROM memories WHERE due_at > :now)
"""
_HARMLESS = (EventType.CREATED, EventType.DEDUPLICATED, EventType.OPENED, EventType.ENDED, EventType.IMPORTED)
#: The events that put no memory into the archive.
_STILL = ", ".join(f"'{one}'" for one in _HARMLESS)
# A purge deletes events, so another one may have the number of the last that was seen.
_MOVED = f"""
    SELECT 1 WHERE EXISTS (
           SELECT 1 FROM events WHERE number > :event AND (type NOT IN ({_STILL}) OR coalesce(state, '') = 'archived'))
        OR NOT EXISTS (SELECT 1 FROM events WHERE number = :event AND at = :at)
"""  # noqa: S608  (constants of this file)
# One part for each value of the index. No other condition, so that each part stops after `limit` rows of the index.
_PART = """
    SELECT number FROM (
        SELECT number FROM memories WHERE state = 'archived' AND kind = '{kind}' AND no_contacts {contacts}
         ORDER BY number DESC LIMIT :limit) AS part{place}
"""
# The rows that a reader sees as archived although no sweep has moved them yet.
_OVERDUE = """
    SELECT number FROM (
        SELECT number FROM memories WHERE state = 'active' AND due_at <= :now AND archive_at <= :policy_now
         ORDER BY due_at, number LIMIT :limit) AS overdue
"""
_PARTS = [
    _PART.format(kind=kind, contacts=contacts, place=place)
    for place, (kind, contacts) in enumerate((kind, contacts) for kind in Kind for contacts in ("IS NULL", "= 1"))
]
_NEWEST = f"""
    SELECT number, version FROM memories
     WHERE number IN (SELECT number FROM ({" UNION ALL ".join((*_PARTS, _OVERDUE))}) AS found
                       ORDER BY number DESC LIMIT :limit)
     ORDER BY number DESC
"""  # noqa: S608  (constants of these files)
_TEXTS = """
    SELECT memories.number, piece(memories.content, 1, :most), memories.key
      FROM numbers(:numbers) AS wanted INNER JOIN memories ON memories.number = wanted.value
"""
# A quarantined memory is not counted: it is hidden until its quarantine is released.
_ALLOWED = f"""
    SELECT memories.id FROM numbers(:numbers) AS wanted
     INNER JOIN memories ON memories.number = wanted.value
     WHERE {ARCHIVED_MEMORY}
       AND NOT EXISTS (
           SELECT 1 FROM quarantined INNER JOIN quarantines ON quarantines.id = quarantined.quarantine_id
            WHERE quarantined.item = memories.id AND quarantined.memory = 1 AND quarantines.released_at IS NULL)
     ORDER BY memories.number DESC
"""  # noqa: S608


class ArchiveMark(NamedTuple):
    """The values that show whether the archive may have changed."""

    #: Whether anything is archived, or has a step due.
    any: bool
    #: Number and time of the last event: each step of a memory's life cycle writes one.
    event: int | None
    event_at: int | None
    #: When the next step of the life cycle is due, in microseconds.
    next_due: int | None


def mark(tx: Tx, reading: ClockReading) -> ArchiveMark:
    """Return the mark of the archive as it is now."""
    found, *others = tx.rows(_MARK, {"now": micros(reading.now)})[0]
    return ArchiveMark(bool(found), *others)


def has_moved(tx: Tx, since: ArchiveMark) -> bool:
    """Return whether a memory may have been archived after a mark was read."""
    return bool(tx.rows(_MOVED, {"event": since.event, "at": since.event_at}))


def newest(tx: Tx, reading: ClockReading, limit: int) -> list[tuple[int, int]]:
    """Return number and version of the newest memories that are archived or due to be, newest first."""
    times = {"now": micros(reading.now), "policy_now": micros(reading.policy_now)}
    return [(number, version) for number, version in tx.rows(_NEWEST, {**times, "limit": limit})]


def texts(tx: Tx, numbers: Iterable[int], most: int) -> list[tuple[int, str]]:
    """Return the number of each memory, and the first characters of its text with the words of its key."""
    rows = tx.rows(_TEXTS, {"numbers": json.dumps(list(numbers)), "most": most})
    return [(number, f"{text[:most]} {key.replace('_', ' ')}" if key else text[:most]) for number, text, key in rows]


def allowed(tx: Tx, numbers: Iterable[int], params: Params) -> list[str]:
    """Return the ids of those that are archived and that the filters of a search allow, newest first."""
    return [row[0] for row in tx.rows(_ALLOWED, {**params, "numbers": json.dumps(list(numbers))})]
