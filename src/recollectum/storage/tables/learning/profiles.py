"""Reads and writes the profiles in meta, and selects the memories that a profile is made from. Rebuildable."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from recollectum.domain.memory import Kind
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx, Value
from recollectum.storage.tables.trail import meta
from recollectum.storage.times import micros

#: Begins the name of a profile in meta; the agent follows, or nothing for the profile that every agent shares. A
#: trigger deletes these names with every memory.
_NAME = "profile:"
# Every change of a memory adds 1 to its version, so an equal count and an equal sum say that none has changed or gone.
_SAVE = """
    INSERT INTO meta (name, value)
    SELECT :name, :value
      FROM (SELECT count(*) AS count, coalesce(sum(version), 0) AS versions FROM memories
             WHERE id IN (SELECT value FROM texts(:sources))) AS held
     WHERE held.count = :count AND held.versions = :versions
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
# Only memories that may be served, and only what the person said, because a profile has no labels. The index has each
# kind in order, so that no more rows are read than wanted.
_TOLD = """
    SELECT * FROM (
        SELECT {place} AS place, id, version, content, importance, updated_at FROM memories
         WHERE state = 'active' AND superseded_by IS NULL AND kind = :kind{n}
           AND trust = 'owner'
           AND (CAST(:every{n} AS BIGINT) = 1 OR project IS NULL
                OR project IN (SELECT value FROM names(:projects{n})))
           AND (CAST(:agent{n} AS BLOB) IS NULL OR agent IS NULL OR agent = :agent{n})
           AND (expires_at IS NULL OR expires_at > :now)
           AND (valid_to IS NULL OR valid_to > :now)
           AND (archive_at IS NULL OR archive_at > :policy_now)
           AND (retention_expires_at IS NULL OR retention_expires_at > :policy_now)
         ORDER BY {order} LIMIT :limit{n}) AS told{n}
"""
_BY_IMPORTANCE = "importance DESC, updated_at DESC, number DESC"
_BY_TIME = "updated_at DESC, id DESC"


class CachedProfile(NamedTuple):
    """A stored profile."""

    digest: str
    #: The lines, each with the ids of its memories.
    bullets: list[tuple[str, tuple[str, ...]]]
    by: str


class ProfileMemory(NamedTuple):
    """A memory that a profile may contain, in one of its versions."""

    id: str
    version: int
    content: str
    importance: float
    updated_at: int


def find(tx: Tx, agent: str | None) -> CachedProfile | None:
    """Return the last profile of an agent, or of all agents."""
    found = meta.find(tx, _name(tx, agent))
    if found is None:
        return None
    told = json.loads(found)
    return CachedProfile(told["digest"], [(text, tuple(ids)) for text, ids in told["bullets"]], told["by"])


def save(tx: Tx, agent: str | None, made: CachedProfile, sources: Sequence[ProfileMemory], at: datetime) -> None:
    """Store a profile in place of the previous one, unless a source has changed or is gone."""
    row = {
        "name": _name(tx, agent),
        "value": json.dumps({"digest": made.digest, "bullets": made.bullets, "by": made.by, "at": micros(at)}),
        "sources": json.dumps([one.id for one in sources]),
        "count": len(sources),
        "versions": sum(one.version for one in sources),
    }
    tx.run(_SAVE, row)


def _name(tx: Tx, agent: str | None) -> str:
    return _NAME + (tx.stand_ins.hide(agent) if agent else "")


def drop_all(tx: Tx) -> None:
    """Delete every stored profile."""
    meta.remove_beginning_with(tx, _NAME)


class Selection(NamedTuple):
    """Which memories a profile tells an agent: the most important or the newest of these kinds."""

    kinds: tuple[Kind, ...]
    #: None for any.
    agent: str | None
    limit: int
    newest: bool = False
    #: Besides personal memories, those of projects with these root ids; None for all projects.
    projects: tuple[str, ...] | None = ()


def select(tx: Tx, reading: ClockReading, *wanted: Selection) -> list[list[ProfileMemory]]:
    """Return the memories of each selection, best first, with one statement."""
    parts: list[str] = []
    params: dict[str, Value] = {"now": micros(reading.now), "policy_now": micros(reading.policy_now)}
    for place, one in enumerate(wanted):
        for kind in one.kinds:
            n = len(parts)
            parts.append(_TOLD.format(place=place, n=n, order=_BY_TIME if one.newest else _BY_IMPORTANCE))
            params |= {f"kind{n}": kind, f"agent{n}": one.agent, f"limit{n}": one.limit}
            params |= {f"every{n}": int(one.projects is None), f"projects{n}": json.dumps(one.projects or ())}
    rows = tx.rows(" UNION ALL ".join(parts), params)
    return [
        _first([ProfileMemory._make(row[1:]) for row in rows if row[0] == place], one)
        for place, one in enumerate(wanted)
    ]


def _first(told: list[ProfileMemory], wanted: Selection) -> list[ProfileMemory]:
    told.sort(key=lambda one: (0.0 if wanted.newest else one.importance, one.updated_at, one.id), reverse=True)
    return told[: wanted.limit]
