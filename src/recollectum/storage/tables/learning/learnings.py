"""Reads and writes the lines in meta that each LEARNINGS.md had at its last sync, and the days of learnings."""

import json
from collections.abc import Collection, Iterable
from datetime import date, datetime

from recollectum.domain.learning import Line
from recollectum.domain.memory import Kind, Memory
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories
from recollectum.storage.tables.trail import meta
from recollectum.storage.times import micros, moment

# In two parts, because the index of lists begins with this column.
_HELD = """
     WHERE no_contacts {contacts} AND state IN ('active', 'archived')
       AND kind IN ('preference', 'correction', 'pattern', 'tool_usage') AND superseded_by IS NULL
"""
_PARTS = (_HELD.format(contacts="IS NULL"), _HELD.format(contacts="= 1"))
_IDS = f"""
    SELECT id FROM memories {_PARTS[0]} AND coalesce(agent, '') = :agent
    UNION ALL
    SELECT id FROM memories {_PARTS[1]} AND coalesce(agent, '') = :agent
     ORDER BY id DESC
"""  # noqa: S608  (constants of this file)
_AGENTS = f"""
    SELECT coalesce(agent, '') FROM memories {_PARTS[0]}
    UNION
    SELECT coalesce(agent, '') FROM memories {_PARTS[1]}
"""  # noqa: S608
# Those that are in the trash first: of two with one text, the other one is shown.
_EVER = """
    SELECT id FROM memories
     WHERE kind IN ('preference', 'correction', 'pattern', 'tool_usage') AND coalesce(agent, '') = :agent
     ORDER BY CASE WHEN state IN ('active', 'archived') AND superseded_by IS NULL THEN 1 ELSE 0 END, id
"""
#: Begins the name in meta of the host whose file had those lines; the agent follows.
_HOST = "lines_host:"
#: Begins the name in meta of the lines of a file; the agent follows, or nothing for the file that all agents share.
_NAME = "lines:"
_EXISTING = "SELECT id FROM memories WHERE id IN (SELECT value FROM texts(:ids))"
_DAY = "SELECT day, day_at FROM memories WHERE id = :id AND day IS NOT NULL"
_SAVE_DAY = "UPDATE memories SET day = :day, day_at = :at WHERE id = :id"


def of_agent(tx: Tx, agent: str | None) -> list[Memory]:
    """Return the active and archived learnings of one agent, or those shared by all agents, newest first."""
    ids = [row[0] for row in tx.rows(_IDS, {"agent": agent or ""})]
    return [memory for one in ids if (memory := memories.find(tx, one))]


def ever_of_agent(tx: Tx, agent: str | None) -> list[Memory]:
    """Return all learnings of one agent, or those shared by all agents, also forgotten ones; shown ones last."""
    ids = [row[0] for row in tx.rows(_EVER, {"agent": agent or ""})]
    return [memory for one in ids if (memory := memories.find(tx, one))]


def agents(tx: Tx) -> list[str | None]:
    """Return the agents that have learnings or a file; None is the file that all agents share."""
    return [agent or None for agent in sorted({row[0] for row in tx.rows(_AGENTS, {})} | _files(tx).keys())]


def lines(tx: Tx, agent: str | None) -> list[Line]:
    """Return the lines of a file at its last sync, in order."""
    return _read(meta.find(tx, _name(tx, agent)) or "[]")


def save_lines(tx: Tx, agent: str | None, shown: Iterable[Line]) -> None:
    """Store the lines that a file shows now."""
    name = _name(tx, agent)
    kept = [(line.memory_id, line.category.value, line.digest, line.day.isoformat()) for line in shown]
    if kept:
        meta.save(tx, name, json.dumps(kept))
    else:
        meta.remove(tx, name)


def save_host(tx: Tx, agent: str | None, host: str | None) -> None:
    """Store which host's file the lines are of; nothing where there is one host."""
    if host is not None:
        meta.save(tx, _name(tx, agent, _HOST), host)


def is_of_another_host(tx: Tx, agent: str | None, host: str | None) -> bool:
    """Return whether the lines are of another host's file, or of an unknown one's; never where there is one host."""
    return host is not None and meta.find(tx, _name(tx, agent, _HOST)) != host


def count_lines(tx: Tx, memory_ids: Collection[str]) -> int:
    """Return how many lines of files show one of the memories."""
    return sum(line.memory_id in memory_ids for kept in _files(tx).values() for line in kept)


def stale_agents(tx: Tx) -> list[str | None]:
    """Return the agents whose files show deleted memories; None is the file that all agents share."""
    return [agent or None for agent, kept in _files(tx).items() if len(_without_deleted(tx, kept)) < len(kept)]


def forget_deleted(tx: Tx) -> None:
    """Delete the recorded lines of deleted memories."""
    for agent, kept in _files(tx).items():
        left = _without_deleted(tx, kept)
        if len(left) < len(kept):
            save_lines(tx, agent, left)


def find_day(tx: Tx, memory_id: str) -> tuple[date, datetime] | None:
    """Return the day written before a learning, and when the memory had last been changed at that time."""
    rows = tx.rows(_DAY, {"id": memory_id})
    return (date.fromisoformat(rows[0][0]), moment(rows[0][1])) if rows else None


def save_day(tx: Tx, memory_id: str, day: date, at: datetime) -> None:
    """Store the day of a learning, as of `at`."""
    tx.run(_SAVE_DAY, {"id": memory_id, "day": day.isoformat(), "at": micros(at)})


def _files(tx: Tx) -> dict[str, list[Line]]:
    found = {name.removeprefix(_NAME): value for name, value in meta.beginning_with(tx, _NAME)}
    return {tx.stand_ins.show(agent) if agent else agent: _read(value) for agent, value in found.items()}


def _name(tx: Tx, agent: str | None, begins: str = _NAME) -> str:
    return begins + (tx.stand_ins.hide(agent) if agent else "")


def _read(value: str) -> list[Line]:
    return [Line(row[0], Kind(row[1]), row[2], date.fromisoformat(row[3])) for row in json.loads(value)]


def _without_deleted(tx: Tx, kept: list[Line]) -> list[Line]:
    found = {row[0] for row in tx.rows(_EXISTING, {"ids": json.dumps([line.memory_id for line in kept])})}
    return [line for line in kept if line.memory_id in found]
