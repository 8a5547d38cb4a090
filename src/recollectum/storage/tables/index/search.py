"""Reads what a search needs: the chunks that the filters allow, and the ranking features of each candidate."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recollectum.storage.port import Params, Row, Tx
from recollectum.storage.tables.folding import fold
from recollectum.storage.tables.index.search_filters import FILTERED, ROWS, TRUST

_EVIDENCE = f"""
    SELECT chunks.number, chunks.source, chunks.source_number, chunks.told, chunks.own, chunks.echo,
           coalesce(memories.importance, 0.5), {TRUST},
           coalesce(memories.created_at, messages.created_at, notes.mtime),
           coalesce(memories.updated_at, messages.created_at, notes.mtime),
           messages.speaker, coalesce(memories.author, messages.speaker, notes.path),
           messages.session_id, messages.position, messages.role, memories.project, chunks.stop - chunks.start
      FROM numbers(:numbers) AS wanted
      {ROWS.format(numbers="wanted.value")}
     WHERE {FILTERED}
"""  # noqa: S608  (constants of these files)
# The filtered values of a turn are in the chunk's own row; without a filter, any existing turn may be served. Its
# session and position are in the turn's row, which is found by its number.
_TURNS = """
    SELECT chunks.number, chunks.source, chunks.source_number, chunks.told, chunks.own, chunks.echo,
           0.5, chunks.trust, chunks.created_at, chunks.created_at, chunks.speaker, chunks.speaker,
           messages.session_id, messages.position, messages.role, CAST(NULL AS BLOB), chunks.stop - chunks.start
      FROM numbers(:numbers) AS wanted INNER JOIN chunks ON chunks.number = wanted.value
     INNER JOIN messages ON messages.number = chunks.source_number
     WHERE chunks.source = 'sessions' AND chunks.trust IS NOT NULL
"""
_EVIDENCE_UNFILTERED = f"""
    {_TURNS}
     UNION ALL
    {_EVIDENCE}
       AND NOT (chunks.source = 'sessions' AND chunks.trust IS NOT NULL)
"""
# Chunks of a period: read through the two indexes on creation time, and limited in number.
_SAID_IN = """
    SELECT chunks.number FROM (
            SELECT * FROM (
                SELECT 'sessions' AS source, number, created_at, 1 AS place FROM messages
                 WHERE created_at >= :from AND created_at < :to ORDER BY created_at, number LIMIT :limit) AS said
             UNION ALL
            SELECT * FROM (
                SELECT 'memories', number, created_at, 2 FROM memories
                 WHERE created_at >= :from AND created_at < :to ORDER BY created_at, number LIMIT :limit) AS kept
             ORDER BY place, created_at, number LIMIT :limit) AS row
     INNER JOIN chunks ON chunks.source = row.source AND chunks.source_number = row.number
"""
# Chunks of current memories of some kinds, found by the index on kind and importance, and limited in number.
_OF_KINDS = """
    SELECT chunks.number FROM (
            SELECT number FROM memories
             WHERE state = 'active' AND superseded_by IS NULL AND kind IN (SELECT value FROM texts(:kinds))
             ORDER BY importance DESC, updated_at DESC, number DESC LIMIT :limit) AS row
     INNER JOIN chunks ON chunks.source = 'memories' AND chunks.source_number = row.number
"""
_EXISTING = """
    SELECT chunks.number FROM numbers(:numbers) AS wanted INNER JOIN chunks ON chunks.number = wanted.value
"""
_SPEAKERS = """
    SELECT one.value FROM names(:names) AS one
     WHERE EXISTS (SELECT 1 FROM messages WHERE messages.speaker_folded = one.value)
"""
_ALLOWED = f"""
    SELECT chunks.number, chunks.source, chunks.source_number
      FROM numbers(:numbers) AS wanted {ROWS.format(numbers="wanted.value")}
     WHERE {FILTERED}
"""  # noqa: S608
_ALL_ALLOWED = f"""
    SELECT chunks.number FROM ({{some}}) AS every {ROWS.format(numbers="every.number")} WHERE {FILTERED}
"""  # noqa: S608
_ALL = "SELECT number FROM chunks"
_OF_SOURCES = "SELECT number FROM chunks WHERE source IN (SELECT value FROM texts(:sources))"
_OF_MEMORIES = "SELECT number FROM chunks WHERE source = 'memories'"
_OF_SESSION = """
    SELECT chunks.number FROM messages
     INNER JOIN chunks ON chunks.source = 'sessions' AND chunks.source_number = messages.number
     WHERE messages.session_id = :session_id
"""
_OF_SESSIONS = """
    SELECT chunks.number FROM texts(:sessions) AS one INNER JOIN messages ON messages.session_id = one.value
     INNER JOIN chunks ON chunks.source = 'sessions' AND chunks.source_number = messages.number
     UNION ALL
    SELECT number FROM chunks WHERE source = 'memories'
"""
# From the beginning of time, or to its end, if only one of the two is given.
_SINCE, _UNTIL = "coalesce(:since, -9223372036854775807)", "coalesce(:until, 9223372036854775807)"
_OF_TIME = f"""
    SELECT chunks.number FROM (
            SELECT 'sessions' AS source, number FROM messages WHERE created_at >= {_SINCE} AND created_at < {_UNTIL}
             UNION ALL
            SELECT 'memories', number FROM memories WHERE created_at >= {_SINCE} AND created_at < {_UNTIL}
             UNION ALL
            SELECT 'notes', number FROM notes WHERE mtime >= {_SINCE} AND mtime < {_UNTIL}) AS row
     INNER JOIN chunks ON chunks.source = row.source AND chunks.source_number = row.number
"""  # noqa: S608
_MADE_AT = f"""
    SELECT coalesce(memories.created_at, messages.created_at, notes.mtime)
      FROM numbers(:numbers) AS wanted {ROWS.format(numbers="wanted.value")}
     WHERE {FILTERED}
     ORDER BY wanted.key LIMIT 1
"""  # noqa: S608
_NEWEST = f"""
      FROM (SELECT number FROM chunks ORDER BY number DESC LIMIT :most) AS every {ROWS.format(numbers="every.number")}
     WHERE {FILTERED}
"""  # noqa: S608
_NEWEST_TEXTS = f"""
    SELECT chunks.number, coalesce(memories.content, messages.text, notes.text), memories.key {_NEWEST}
     ORDER BY chunks.number DESC
"""
_WITH_SUBSTRING = f"""
    SELECT chunks.number {_NEWEST}
       AND (instr(lower(coalesce(memories.content, messages.text, notes.text)), lower(:piece)) > 0
            OR instr(coalesce(memories.key, ''), lower(:piece)) > 0)
     ORDER BY chunks.number DESC LIMIT :limit
"""


class Evidence(NamedTuple):
    """The ranking features of one candidate chunk; each query has hundreds of them."""

    number: int
    source: str
    source_number: int
    told: int | None
    own: int | None
    echo: float | None
    importance: float
    trust: str
    created: int
    #: When a memory was last said again or edited; of other texts, the time they were created.
    updated: int
    speaker: str | None
    #: Who said or wrote it; None for a turn without a speaker.
    named_author: str | None
    #: Of a turn; None for memories and notes.
    session: str | None
    position: int | None
    role: str | None
    #: Of a memory; a turn has the project of its session.
    project: str | None
    #: In characters.
    length: int

    @property
    def author(self) -> str:
        """Return who said or wrote it: of a turn without a speaker, its role."""
        return (self.role or "") if self.named_author is None else self.named_author


def evidence(tx: Tx, numbers: Iterable[int], params: Params, *, filtered: bool) -> dict[int, Evidence]:
    """Return those of the chunks that the filters allow, by number."""
    sql = _EVIDENCE if filtered else _EVIDENCE_UNFILTERED
    rows = tx.rows(sql, {**params, "numbers": to_json_list(numbers)})
    return {row[0]: Evidence._make(row) for row in rows}


def in_time(tx: Tx, start: int, end: int, most: int) -> list[int]:
    """Return the chunks of what was said or remembered in a period, in microseconds."""
    return [row[0] for row in tx.rows(_SAID_IN, {"from": start, "to": end, "limit": most})]


def of_kinds(tx: Tx, kinds: Sequence[str], most: int) -> set[int]:
    """Return the chunks of current memories of some kinds, of the most important and newest ones."""
    return {row[0] for row in tx.rows(_OF_KINDS, {"kinds": json.dumps(kinds), "limit": most})}


def existing(tx: Tx, numbers: Iterable[int]) -> set[int]:
    """Return those of the chunks that still exist."""
    return {row[0] for row in tx.rows(_EXISTING, {"numbers": to_json_list(numbers)})}


def speakers(tx: Tx, names: Sequence[str]) -> list[str]:
    """Return those of the names that are names of speakers in this vault."""
    if not names:
        return []
    known = {row[0] for row in tx.rows(_SPEAKERS, {"names": json.dumps(sorted(set(map(fold, names))))})}
    return [name for name in names if fold(name) in known]


def allowed(tx: Tx, numbers: Iterable[int], params: Params) -> list[Row]:
    """Return those of the chunks that the filters allow, each with its source row."""
    return tx.rows(_ALLOWED, {**params, "numbers": to_json_list(numbers)})


def all_allowed(tx: Tx, params: Params) -> set[int]:
    """Return every chunk that the filters allow, by the cheapest query."""
    return {row[0] for row in tx.rows(_ALL_ALLOWED.format(some=_cheapest_query(params)), params)}


def first_made_at(tx: Tx, numbers: Iterable[int], params: Params) -> int | None:
    """Return the creation time of the oldest of these chunks that may be served, in microseconds, or None."""
    rows = tx.rows(_MADE_AT, {**params, "numbers": to_json_list(numbers)})
    return rows[0][0] if rows else None


def with_substring(tx: Tx, piece: str, params: Params, *, limit: int, most: int) -> list[int]:
    """Return the newest chunks that contain a text, among a number of the newest."""
    if tx.reads_texts:
        return [row[0] for row in tx.rows(_WITH_SUBSTRING, {**params, "piece": piece, "limit": limit, "most": most})]
    wanted = fold(piece)
    rows = tx.rows(_NEWEST_TEXTS, {**params, "most": most})
    return [number for number, text, key in rows if wanted in fold(text) or wanted in (key or "")][:limit]


def to_json_list(numbers: Iterable[int]) -> str:
    """Return numbers as one parameter of a statement."""
    return "[" + ",".join(map(str, numbers)) + "]"


def _cheapest_query(params: Params) -> str:
    """Return the query that yields all allowed chunks and as few others as possible."""
    sources = params["sources"]
    ways: Sequence[tuple[bool, str]] = (
        (params["session_id"] is not None, _OF_SESSION),
        (params["kind"] is not None, _OF_MEMORIES),
        (isinstance(sources, str) and '"sessions"' not in sources, _OF_SOURCES),
        (params["sessions"] is not None, _OF_SESSIONS),
        (params["since"] is not None or params["until"] is not None, _OF_TIME),
    )
    return next((way for fits, way in ways if fits), _ALL)
