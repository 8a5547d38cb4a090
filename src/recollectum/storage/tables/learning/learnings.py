"""Reads and writes the learning tables: the lines of each LEARNINGS.md at its last sync, and their days."""

from collections.abc import Iterable
from datetime import date, datetime

from recollectum.domain.learning import Line
from recollectum.domain.memory import Kind, Memory
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories
from recollectum.storage.times import micros, moment

# The conditions must equal those of the index word for word, or SQLite does not use it.
_IDS = """
    SELECT id FROM memories
     WHERE coalesce(agent, '') = :agent
       AND kind IN ('preference', 'correction', 'pattern', 'tool_usage')
       AND state IN ('active', 'archived') AND superseded_by IS NULL
     ORDER BY id DESC
"""
_AGENTS = """
    SELECT DISTINCT coalesce(agent, '') FROM memories
     WHERE kind IN ('preference', 'correction', 'pattern', 'tool_usage')
       AND state IN ('active', 'archived') AND superseded_by IS NULL
    UNION
    SELECT DISTINCT agent FROM learning_lines
"""
_LINES = "SELECT memory_id, category, digest, day FROM learning_lines WHERE agent = :agent ORDER BY position"
_CLEAR = "DELETE FROM learning_lines WHERE agent = :agent"
_ADD_LINE = """
    INSERT INTO learning_lines (agent, position, memory_id, category, digest, day)
    VALUES (:agent, :position, :memory_id, :category, :digest, :day)
"""
_DAY = "SELECT day, at FROM learning_days WHERE memory_id = :id"
_SAVE_DAY = """
    INSERT INTO learning_days (memory_id, day, at) VALUES (:id, :day, :at)
    ON CONFLICT (memory_id) DO UPDATE SET day = excluded.day, at = excluded.at
"""


def of_agent(tx: Tx, agent: str | None) -> list[Memory]:
    """Return the active and archived learnings of one agent, or those shared by all agents, newest first."""
    ids = [row[0] for row in tx.rows(_IDS, {"agent": agent or ""})]
    return [memory for one in ids if (memory := memories.find(tx, one))]


def agents(tx: Tx) -> list[str | None]:
    """Return the agents that have learnings or a file; None is the file that all agents share."""
    return [row[0] or None for row in tx.rows(_AGENTS, {})]


def lines(tx: Tx, agent: str | None) -> list[Line]:
    """Return the lines of a file at its last sync, in order."""
    rows = tx.rows(_LINES, {"agent": agent or ""})
    return [Line(row[0], Kind(row[1]), row[2], date.fromisoformat(row[3])) for row in rows]


def save_lines(tx: Tx, agent: str | None, shown: Iterable[Line]) -> None:
    """Store the lines that a file shows now."""
    tx.run(_CLEAR, {"agent": agent or ""})
    for position, line in enumerate(shown):
        tx.run(
            _ADD_LINE,
            {
                "agent": agent or "",
                "position": position,
                "memory_id": line.memory_id,
                "category": line.category.value,
                "digest": line.digest,
                "day": line.day.isoformat(),
            },
        )


def find_day(tx: Tx, memory_id: str) -> tuple[date, datetime] | None:
    """Return the day written before a learning, and when the memory had last been changed at that time."""
    rows = tx.rows(_DAY, {"id": memory_id})
    return (date.fromisoformat(rows[0][0]), moment(rows[0][1])) if rows else None


def save_day(tx: Tx, memory_id: str, day: date, at: datetime) -> None:
    """Store the day of a learning, as of `at`."""
    tx.run(_SAVE_DAY, {"id": memory_id, "day": day.isoformat(), "at": micros(at)})
