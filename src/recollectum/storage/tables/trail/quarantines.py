"""Reads and writes the quarantine tables: the messages and memories that each quarantine covers."""

import json
from collections.abc import Collection, Iterable
from datetime import datetime

from recollectum.domain.memory import State
from recollectum.domain.page import AFTER_IDS
from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx
from recollectum.storage.tables.folding import fold
from recollectum.storage.times import micros, micros_or_none, moment, moment_or_none

# The items are read once, whatever the number of quarantines: they are in the order of their ids.
_COUNTED = """
    SELECT quarantines.id, quarantines.source, quarantines.went, quarantines.by, quarantines.at,
           quarantines.released_at, coalesce(held.messages, 0), coalesce(held.memories, 0)
      FROM quarantines LEFT JOIN (
               SELECT quarantine_id, sum(1 - memory) AS messages, sum(memory) AS memories
                 FROM quarantined GROUP BY quarantine_id) AS held ON held.quarantine_id = quarantines.id
"""
_ADD = "INSERT INTO quarantines (id, source, went, by, at) VALUES (:id, :source, :went, :by, :at)"
_PAGE = f"""{_COUNTED}
     WHERE quarantines.id < :before
     ORDER BY quarantines.id DESC LIMIT :limit
"""
_ONE = f"{_COUNTED} WHERE quarantines.id = :id"
# A message belongs to one quarantine at most.
_ADD_MESSAGE = """
    INSERT INTO quarantined (item, quarantine_id, memory)
    SELECT :item, :id, 0 WHERE NOT EXISTS (SELECT 1 FROM quarantined WHERE item = :item)
"""
_ADD_MEMORY = """
    INSERT INTO quarantined (item, quarantine_id, memory) VALUES (:item, :id, 1) ON CONFLICT DO NOTHING
"""
_MESSAGES = "SELECT item FROM quarantined WHERE quarantine_id = :id AND memory = 0"
_MEMORIES = "SELECT item FROM quarantined WHERE quarantine_id = :id AND memory = 1"
# Without the counts: this runs at every write.
_STANDING_ONES = """
    SELECT id, source, went, by, at, released_at, 0, 0 FROM quarantines WHERE released_at IS NULL ORDER BY at, id
"""
_HOLDER = "SELECT quarantine_id FROM quarantined WHERE item = :id AND memory = 0"
_ASIDE = "SELECT item FROM quarantined WHERE item IN (SELECT value FROM texts(:ids)) AND memory = 0"
_FREE = "DELETE FROM quarantined WHERE quarantine_id = :id AND memory = 0"
_RELEASED = "UPDATE quarantines SET released_at = :at WHERE id = :id"
_NUMBERS = """
    SELECT messages.number FROM quarantined JOIN messages ON messages.id = quarantined.item
     WHERE quarantined.memory = 0
"""
# Begins with the quarantined messages, of which there are few or none: a session may have thousands.
_OF_SESSION = """
    SELECT item FROM quarantined
     WHERE memory = 0
       AND EXISTS (SELECT 1 FROM messages WHERE messages.id = quarantined.item AND session_id = :session_id)
"""
# The sources.
_BY_SPEAKER = "SELECT id FROM messages WHERE role = 'tool' AND speaker_folded = :name"
_WITH_CALLS = "SELECT id, tool_calls FROM messages WHERE role = 'tool' AND tool_calls IS NOT NULL"
_BY_AUTHOR = "SELECT id FROM memories WHERE author = :name"
_BY_AGENT = "SELECT id FROM memories WHERE agent = :name"
_KEYS = "SELECT id, key FROM sessions"
_STANDING = """
    SELECT id FROM memories WHERE id IN (SELECT value FROM texts(:ids)) AND state IN ('active', 'archived')
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """What is quarantined of one source: counts, no content."""

    id: str
    source: str
    #: The state to which its memories moved.
    went: State
    by: str
    at: datetime
    released_at: datetime | None = None
    messages: int = 0
    memories: int = 0


def add(tx: Tx, one: Quarantine, messages: Iterable[str], memories: Iterable[str]) -> None:
    """Store a quarantine with what it covers."""
    tx.run(_ADD, {"id": one.id, "source": one.source, "went": one.went.value, "by": one.by, "at": micros(one.at)})
    for item in messages:
        add_message(tx, one.id, item)
    for item in memories:
        add_memory(tx, one.id, item)


def add_message(tx: Tx, quarantine_id: str, message_id: str) -> None:
    """Add a message to a quarantine; a message that another quarantine covers stays with that one."""
    tx.run(_ADD_MESSAGE, {"id": quarantine_id, "item": message_id})


def add_memory(tx: Tx, quarantine_id: str, memory_id: str) -> None:
    """Add a memory to a quarantine."""
    tx.run(_ADD_MEMORY, {"id": quarantine_id, "item": memory_id})


def standing_ones(tx: Tx) -> list[Quarantine]:
    """Return the quarantines that are not released, oldest first."""
    return [_from_row(row) for row in tx.kept_rows("quarantines", _STANDING_ONES, {})]


def holder(tx: Tx, message_id: str) -> str | None:
    """Return the quarantine that covers a message, or None."""
    rows = tx.rows(_HOLDER, {"id": message_id})
    return rows[0][0] if rows else None


def aside(tx: Tx, ids: Collection[str]) -> set[str]:
    """Return which of the messages are quarantined."""
    return {row[0] for row in tx.rows(_ASIDE, {"ids": json.dumps(sorted(ids))})} if ids else set()


def page(tx: Tx, *, before: str | None, limit: int) -> list[Quarantine]:
    """Return the newest quarantines before an id, including the released ones."""
    return [_from_row(row) for row in tx.rows(_PAGE, {"before": before or AFTER_IDS, "limit": limit})]


def find(tx: Tx, quarantine_id: str) -> Quarantine | None:
    """Return the quarantine of that id, or None."""
    rows = tx.rows(_ONE, {"id": quarantine_id})
    return _from_row(rows[0]) if rows else None


def messages_of(tx: Tx, quarantine_id: str) -> list[str]:
    """Return the messages that a quarantine covers."""
    return [row[0] for row in tx.rows(_MESSAGES, {"id": quarantine_id})]


def memories_of(tx: Tx, quarantine_id: str) -> list[str]:
    """Return the memories that a quarantine covers."""
    return [row[0] for row in tx.rows(_MEMORIES, {"id": quarantine_id})]


def release(tx: Tx, quarantine_id: str, at: datetime) -> None:
    """Mark a quarantine as released; its list of memories is kept."""
    tx.run(_FREE, {"id": quarantine_id})
    tx.run(_RELEASED, {"id": quarantine_id, "at": micros_or_none(at)})


def numbers(tx: Tx) -> set[int]:
    """Return the row numbers of all quarantined messages, which no index may contain."""
    return {row[0] for row in tx.rows(_NUMBERS, {})}


def of_session(tx: Tx, session_id: str) -> set[str]:
    """Return the quarantined messages of a session."""
    return {row[0] for row in tx.rows(_OF_SESSION, {"session_id": session_id})}


def by_tool(tx: Tx, name: str) -> set[str]:
    """Return the messages that a tool wrote."""
    spoken = {row[0] for row in tx.rows(_BY_SPEAKER, {"name": fold(name)})}
    # The calls are JSON, and may be encrypted: they are read here, not by the statement.
    called = tx.rows(_WITH_CALLS, {})
    return spoken | {one for one, calls in called if any(call["name"] == name for call in json.loads(calls))}


def by_author(tx: Tx, name: str) -> set[str]:
    """Return the memories that a caller wrote last."""
    return {row[0] for row in tx.rows(_BY_AUTHOR, {"name": name})}


def by_agent(tx: Tx, name: str) -> set[str]:
    """Return the memories that were learned through an agent."""
    return {row[0] for row in tx.rows(_BY_AGENT, {"name": name})}


def keys(tx: Tx) -> list[tuple[str, str]]:
    """Return all sessions with their keys."""
    return [(row[0], row[1]) for row in tx.rows(_KEYS, {})]


def standing(tx: Tx, ids: Collection[str]) -> set[str]:
    """Return which of the memories are active or archived."""
    return {row[0] for row in tx.rows(_STANDING, {"ids": json.dumps(sorted(ids))})}


def _from_row(row: Row) -> Quarantine:
    return Quarantine(
        id=row[0],
        source=row[1],
        went=State(row[2]),
        by=row[3],
        at=moment(row[4]),
        released_at=moment_or_none(row[5]),
        messages=row[6],
        memories=row[7],
    )
