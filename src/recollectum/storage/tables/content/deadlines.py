"""Rewrites the deadlines of many memories at once: when a retention changes, and when memories were used."""

import json
from collections.abc import Sequence
from datetime import datetime

from recollectum.domain.records import dataclass
from recollectum.storage.port import Params, Tx
from recollectum.storage.times import micros, micros_or_none

_DUE = """
    CASE WHEN expires_at IS NULL THEN CAST(:due_at AS BIGINT)
         WHEN CAST(:due_at AS BIGINT) IS NULL OR expires_at < :due_at THEN expires_at
         ELSE CAST(:due_at AS BIGINT) END
"""
_RULED = """
    (CAST(:agent AS BLOB) IS NULL OR agent = :agent)
    AND (agent IS NULL OR agent NOT IN (SELECT value FROM names(:others)))
"""
# A deadline that has passed stays: readers no longer see the memory. Without new deadlines nothing passes.
_SET_ACTIVE = f"""
    UPDATE memories
       SET archive_at = CAST(:archive_at AS BIGINT), retention_expires_at = CAST(:retention_expires_at AS BIGINT),
           due_at = {_DUE}
     WHERE state = 'active' AND {_RULED}
       AND (CASE WHEN CAST(:due_at AS BIGINT) IS NULL
                 THEN archive_at IS NOT NULL OR retention_expires_at IS NOT NULL
                 ELSE (archive_at IS NULL OR archive_at > :now)
                      AND (retention_expires_at IS NULL OR retention_expires_at > :now) END)
"""  # noqa: S608  (constants of this file)
_SET_ARCHIVED = f"""
    UPDATE memories SET retention_expires_at = CAST(:retention_expires_at AS BIGINT), due_at = {_DUE}
     WHERE state = 'archived' AND {_RULED}
       AND (CASE WHEN CAST(:due_at AS BIGINT) IS NULL THEN retention_expires_at IS NOT NULL
                 ELSE retention_expires_at IS NULL OR retention_expires_at > :now END)
"""  # noqa: S608
_RENEW = f"""
    UPDATE memories
       SET archive_at = CAST(:archive_at AS BIGINT), retention_expires_at = CAST(:retention_expires_at AS BIGINT),
           due_at = {_DUE}
     WHERE state = 'active' AND id IN (SELECT value FROM texts(:ids)) AND {_RULED}
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledMemories:
    """The memories that one set of periods applies to."""

    #: Those learned through this agent; None for all.
    agent: str | None = None
    #: The agents that have other periods, whose memories are left out.
    others: tuple[str, ...] = ()

    def params(self) -> Params:
        """Return the choice as parameters of a statement."""
        return {"agent": self.agent, "others": json.dumps(self.others)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """The deadlines that the policy sets; None is for ever."""

    archive_at: datetime | None
    retention_expires_at: datetime | None

    def params(self) -> Params:
        """Return the deadlines as parameters of a statement, with the earliest of them."""
        return {
            "archive_at": micros_or_none(self.archive_at),
            "retention_expires_at": micros_or_none(self.retention_expires_at),
            "due_at": micros_or_none(self.archive_at or self.retention_expires_at),
        }


def set_active(tx: Tx, chosen: RuledMemories, deadlines: Deadlines, now: datetime) -> int:
    """Set the deadlines of active memories, except those whose deadline has passed; return how many."""
    return tx.run(_SET_ACTIVE, {**chosen.params(), **deadlines.params(), "now": micros(now)})


def set_archived(tx: Tx, chosen: RuledMemories, expires_at: datetime | None, now: datetime) -> int:
    """Set the deadline of archived memories, except those whose deadline has passed; return how many."""
    expires = micros_or_none(expires_at)
    params = {**chosen.params(), "retention_expires_at": expires, "due_at": expires, "now": micros(now)}
    return tx.run(_SET_ARCHIVED, params)


def renew(tx: Tx, memory_ids: Sequence[str], chosen: RuledMemories, deadlines: Deadlines) -> int:
    """Set the deadlines of active memories that were used; return how many."""
    return tx.run(_RENEW, {**chosen.params(), **deadlines.params(), "ids": json.dumps(memory_ids)})
