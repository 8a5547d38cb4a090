"""Filters of a search: the conditions that each statement of `search` shares, and their parameters."""

import json
from dataclasses import fields
from datetime import datetime

from recollectum.domain.files.project import ProjectScope
from recollectum.domain.hit import SourceKind
from recollectum.domain.memory import Kind
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Params, Tx
from recollectum.storage.tables.content import sessions
from recollectum.storage.tables.folding import fold_or_none
from recollectum.storage.times import micros_or_none

_OF_SOURCE = "SELECT 1 FROM chunks WHERE source = :source LIMIT 1"
# These and policy.lifecycle.state_at decide what may be served; a test checks that they agree.
_ACTIVE = """
        memories.state = 'active' AND (memories.archive_at IS NULL OR memories.archive_at > :policy_now)
"""
_ARCHIVED = "(memories.state = 'archived' OR (memories.state = 'active' AND memories.archive_at <= :policy_now))"
_MEMORY = """
        memories.superseded_by IS NULL
        AND (memories.expires_at IS NULL OR memories.expires_at > :now)
        AND (memories.retention_expires_at IS NULL OR memories.retention_expires_at > :policy_now)
        AND (memories.valid_to IS NULL OR memories.valid_to > :now)
        AND (CAST(:kind AS TEXT) IS NULL OR memories.kind = :kind)
        AND CAST(:session_id AS TEXT) IS NULL AND CAST(:speaker AS BLOB) IS NULL
        AND (CAST(:sessions AS TEXT) IS NULL OR (CAST(:channel AS TEXT) IS NULL AND memories.agent = :agent) OR EXISTS (
             SELECT 1 FROM messages AS origin WHERE origin.id = memories.message_id
                AND origin.session_id IN (SELECT value FROM texts(:sessions))))
        AND (CAST(:scoped AS BIGINT) = 0 OR memories.project IS NULL
             OR memories.project IN (SELECT value FROM names(:projects)))
"""
_SERVED = f"""
       ({_ACTIVE} AND {_MEMORY})
    OR (messages.id IS NOT NULL AND CAST(:kind AS TEXT) IS NULL
        AND (CAST(:session_id AS TEXT) IS NULL OR messages.session_id = :session_id)
        AND (CAST(:speaker AS BLOB) IS NULL OR messages.speaker_folded = :speaker
             OR (messages.speaker IS NULL AND messages.role = :role))
        AND (CAST(:sessions AS TEXT) IS NULL OR messages.session_id IN (SELECT value FROM texts(:sessions)))
        AND (CAST(:elsewhere AS TEXT) IS NULL OR messages.session_id NOT IN (SELECT value FROM texts(:elsewhere))))
    OR (notes.number IS NOT NULL AND CAST(:kind AS TEXT) IS NULL AND CAST(:session_id AS TEXT) IS NULL
        AND CAST(:speaker AS BLOB) IS NULL AND CAST(:sessions AS TEXT) IS NULL)
"""  # noqa: S608  (constants of this file)
#: The rows that a chunk was cut from.
SOURCES = """
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN messages ON chunks.source = 'sessions' AND messages.number = chunks.source_number
      LEFT JOIN notes ON chunks.source = 'notes' AND notes.number = chunks.source_number
      LEFT JOIN sessions ON sessions.id = messages.session_id
"""
#: The chunks with some numbers, and what they were cut from.
ROWS = f"""
     INNER JOIN chunks ON chunks.number = {{numbers}} {SOURCES}"""
#: The person chose the folder of a note, so its content counts as the person's own.
TRUST = """
     CASE WHEN sessions.imported = 1 AND messages.trust <> 'unknown' THEN 'imported'
          ELSE coalesce(memories.trust, messages.trust, 'owner') END
"""
FILTERED = f"""
     (CAST(:sources AS TEXT) IS NULL OR chunks.source IN (SELECT value FROM texts(:sources)))
     AND (CAST(:since AS BIGINT) IS NULL OR coalesce(memories.created_at, messages.created_at, notes.mtime) >= :since)
     AND (CAST(:until AS BIGINT) IS NULL OR coalesce(memories.created_at, messages.created_at, notes.mtime) < :until)
     AND ({_SERVED})
     AND (CAST(:trusts AS TEXT) IS NULL OR {TRUST} IN (SELECT value FROM texts(:trusts)))
"""  # noqa: S608  (constants of this file)
#: The archived memories that would be served if they were restored.
ARCHIVED_MEMORY = f"""
     (CAST(:sources AS TEXT) IS NULL OR 'memories' IN (SELECT value FROM texts(:sources)))
     AND (CAST(:since AS BIGINT) IS NULL OR memories.created_at >= :since)
     AND (CAST(:until AS BIGINT) IS NULL OR memories.created_at < :until)
     AND {_ARCHIVED} AND {_MEMORY}
     AND (CAST(:trusts AS TEXT) IS NULL OR memories.trust IN (SELECT value FROM texts(:trusts)))
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The filters of a search."""

    #: None for all.
    sources: tuple[SourceKind, ...] | None = None
    session_id: str | None = None
    kind: Kind | None = None
    speaker: str | None = None
    #: Only what was said to this agent, or is remembered for it.
    agent: str | None = None
    #: Only what was said on this channel, or was learned from it.
    channel: str | None = None
    #: The least trust of a text.
    trust: Trust | None = None
    #: Only texts with one of these trust levels.
    trusts: tuple[Trust, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    #: Nothing that belongs to another project.
    scope: ProjectScope | None = None

    def exclude_some(self, tx: Tx) -> bool:
        """Return whether the filters exclude any chunk of this vault: many a vault has memories alone."""
        if any(getattr(self, one.name) is not None for one in fields(self) if one.name != "sources"):
            return True
        others = [one for one in SourceKind if one not in self.sources] if self.sources is not None else []
        return any(tx.rows(_OF_SOURCE, {"source": one.value}) for one in others)

    def params(self, tx: Tx, reading: ClockReading) -> Params:
        """Return the filters as parameters of a statement."""
        by_place = self.agent is not None or self.channel is not None
        return {
            "now": micros_or_none(reading.now),
            "policy_now": micros_or_none(reading.policy_now),
            "sources": None if self.sources is None else json.dumps(self.sources),
            "session_id": self.session_id,
            "kind": self.kind,
            "speaker": (speaker := fold_or_none(self.speaker)),
            "role": speaker,
            "agent": self.agent,
            "channel": self.channel,
            "sessions": json.dumps(sessions.at_place(tx, self.agent, self.channel)) if by_place else None,
            "trusts": None if (trusts := self._trusts()) is None else json.dumps(trusts),
            "since": micros_or_none(self.since),
            "until": micros_or_none(self.until),
            "scoped": int(self.scope is not None),
            "projects": json.dumps(self.scope.ids if self.scope else ()),
            "elsewhere": json.dumps(sorted(self.scope.elsewhere)) if self.scope and self.scope.elsewhere else None,
        }

    def _trusts(self) -> list[Trust] | None:
        """Return the accepted trust levels; None for any."""
        if self.trust is None:
            return None if self.trusts is None else list(self.trusts)
        enough = list(Trust)[: list(Trust).index(self.trust) + 1]
        return enough if self.trusts is None else [one for one in enough if one in self.trusts]
