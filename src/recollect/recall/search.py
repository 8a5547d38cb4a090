"""Query in, hits out: full text over memories and messages, each hit with the place it came from."""

from dataclasses import dataclass

from recollect.domain.hit import Hit, Source, SourceKind
from recollect.domain.memory import Kind
from recollect.domain.trust import Trust, least
from recollect.policy.clock import Reading
from recollect.storage.port import Params, Row, Tx
from recollect.storage.times import micros, moment
from recollect.text.terms import match_expression, query_terms

#: Chunks fetched for each hit that is wanted: a long text may answer with several of its pieces.
_PIECES = 4

# What may be served is decided here and in policy.lifecycle.state_at; a law holds the two together.
_SERVED = """
       (memories.state = 'active' AND memories.superseded_by IS NULL
        AND (memories.expires_at IS NULL OR memories.expires_at > :now)
        AND (memories.archive_at IS NULL OR memories.archive_at > :policy_now)
        AND (memories.retention_expires_at IS NULL OR memories.retention_expires_at > :policy_now)
        AND (memories.valid_to IS NULL OR memories.valid_to > :now)
        AND (:kind IS NULL OR memories.kind = :kind)
        AND :session_id IS NULL)
    OR (messages.id IS NOT NULL AND :kind IS NULL
        AND (:session_id IS NULL OR messages.session_id = :session_id))
"""

_BEST = """
    best AS (
        SELECT found.number AS number, found.score AS score
          FROM found
          JOIN chunks ON chunks.number = found.number
          LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
          LEFT JOIN messages ON chunks.source = 'sessions' AND messages.number = chunks.source_number
         WHERE (:source IS NULL OR chunks.source = :source) AND ({served})
         ORDER BY found.score DESC, found.number DESC LIMIT :limit)
"""

_DETAILS = """
    SELECT best.score, chunks.source, chunks.source_number, chunks.start, chunks.stop,
           memories.id, memories.content, memories.trust, memories.author, memories.created_at,
           messages.id, messages.session_id, messages.position, messages.text, messages.trust,
           coalesce(messages.speaker, messages.role), messages.created_at, sessions.imported
      FROM best
      JOIN chunks ON chunks.number = best.number
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN messages ON (chunks.source = 'sessions' AND messages.number = chunks.source_number)
                         OR (chunks.source = 'memories' AND messages.id = memories.message_id)
      LEFT JOIN sessions ON sessions.id = messages.session_id
     ORDER BY best.score DESC, best.number DESC
"""

_AFTER_MATCHING = _BEST.format(served=_SERVED) + _DETAILS


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What to search in."""

    source: SourceKind | None = None
    session_id: str | None = None
    kind: Kind | None = None


def search(tx: Tx, query: str, reading: Reading, filters: Filters, limit: int) -> list[Hit]:
    """The best hits for any text, best first; a text without a word finds nothing."""
    expression = match_expression(query_terms(query))
    if expression is None:
        return []
    statement = f"WITH found AS ({tx.text.matching}), {_AFTER_MATCHING}"
    rows = tx.rows(statement, _params(expression, reading, filters, limit))
    seen: dict[tuple[str, int], Hit] = {}
    for row in rows:
        seen.setdefault((row[1], row[2]), _to_hit(row))
    return list(seen.values())[:limit]


def _params(expression: str, reading: Reading, filters: Filters, limit: int) -> Params:
    return {
        "expression": expression,
        "now": micros(reading.now),
        "policy_now": micros(reading.policy_now),
        "source": filters.source,
        "session_id": filters.session_id,
        "kind": filters.kind,
        "limit": limit * _PIECES,
    }


def _to_hit(row: Row) -> Hit:
    score, source, _, start, stop = row[:5]
    memory = source == SourceKind.MEMORIES
    text, trust, author, created = row[6:10] if memory else (row[13], row[14], row[15], row[16])
    believed = Trust(trust)
    return Hit(
        text=text[start:stop],
        score=score,
        source=Source(
            kind=SourceKind(source),
            memory_id=row[5],
            session_id=row[11],
            message_id=row[10],
            position=row[12],
            start=start,
            end=stop,
        ),
        trust=least(believed, Trust.IMPORTED) if row[17] and not memory else believed,
        author=author,
        created_at=moment(created),
    )
