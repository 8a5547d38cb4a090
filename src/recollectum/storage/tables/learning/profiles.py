"""Reads and writes the profiles table, and selects the memories that a profile is made from. Rebuildable."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from recollectum.domain.memory import Kind
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.times import micros

_FIND = "SELECT digest, bullets, made_by FROM profiles WHERE agent = :agent"
_SAVE = """
    INSERT INTO profiles (agent, digest, bullets, made_by, made_at)
    VALUES (:agent, :digest, :bullets, :made_by, :made_at)
    ON CONFLICT (agent) DO UPDATE
       SET digest = excluded.digest, bullets = excluded.bullets, made_by = excluded.made_by, made_at = excluded.made_at
"""
# Only what may be served, and only what the person or the agent said: nobody weighs a profile.
_TOLD = """
    SELECT id, version, content, importance, updated_at FROM memories
     WHERE state = 'active' AND superseded_by IS NULL AND kind = :kind
       AND trust IN ('owner', 'assistant')
       AND (:agent IS NULL OR agent IS NULL OR agent = :agent)
       AND (expires_at IS NULL OR expires_at > :now)
       AND (valid_to IS NULL OR valid_to > :now)
       AND (archive_at IS NULL OR archive_at > :policy_now)
       AND (retention_expires_at IS NULL OR retention_expires_at > :policy_now)
"""
_IMPORTANT = f"{_TOLD} ORDER BY importance DESC, updated_at DESC, id DESC LIMIT :limit"
_RECENT = f"{_TOLD} ORDER BY updated_at DESC, id DESC LIMIT :limit"


class CachedProfile(NamedTuple):
    """A profile as it is kept."""

    digest: str
    #: Each with the ids of its memories.
    bullets: list[tuple[str, tuple[str, ...]]]
    by: str


class ProfileMemory(NamedTuple):
    """A memory that may be told, in one of its versions."""

    id: str
    version: int
    content: str
    importance: float
    updated_at: int


def find(tx: Tx, agent: str | None) -> CachedProfile | None:
    """The profile that was made last for an agent, or for all of them."""
    rows = tx.rows(_FIND, {"agent": agent or ""})
    if not rows:
        return None
    bullets = [(text, tuple(ids)) for text, ids in json.loads(rows[0][1])]
    return CachedProfile(rows[0][0], bullets, rows[0][2])


def save(tx: Tx, agent: str | None, made: CachedProfile, at: datetime) -> None:
    """Keep a profile in the place of the one before."""
    row = {
        "agent": agent or "",
        "digest": made.digest,
        "bullets": json.dumps(made.bullets),
        "made_by": made.by,
        "made_at": micros(at),
    }
    tx.run(_SAVE, row)


def important(
    tx: Tx, kinds: Iterable[Kind], agent: str | None, reading: ClockReading, limit: int
) -> list[ProfileMemory]:
    """The most important memories of some kinds that may be told to an agent; None for any."""
    found = _of_each(tx, _IMPORTANT, kinds, agent, reading, limit)
    return sorted(found, key=lambda one: (one.importance, one.updated_at, one.id), reverse=True)[:limit]


def recent(tx: Tx, kinds: Iterable[Kind], agent: str | None, reading: ClockReading, limit: int) -> list[ProfileMemory]:
    """The same, the newest first."""
    found = _of_each(tx, _RECENT, kinds, agent, reading, limit)
    return sorted(found, key=lambda one: (one.updated_at, one.id), reverse=True)[:limit]


def _of_each(
    tx: Tx, sql: str, kinds: Iterable[Kind], agent: str | None, reading: ClockReading, limit: int
) -> Iterator[ProfileMemory]:
    """The first of each kind: kind by kind the index has them in order, and no more rows are read than are wanted."""
    for kind in kinds:
        row = {
            "kind": kind,
            "agent": agent,
            "now": micros(reading.now),
            "policy_now": micros(reading.policy_now),
            "limit": limit,
        }
        yield from map(ProfileMemory._make, tx.rows(sql, row))
