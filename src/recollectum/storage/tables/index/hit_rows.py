"""Reads what a hit shows: the text of a chunk, the turns beside it, and the trust of its origins."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from recollectum.domain.trust import Trust
from recollectum.storage.port import Params, Row, Tx
from recollectum.storage.tables.index.search import to_json_list
from recollectum.storage.tables.index.search_filters import FILTERED, SOURCES

_DETAILS = """
    SELECT chunks.number,
           piece(coalesce(messages.text, memories.content, notes.text), chunks.start + 1, chunks.stop - chunks.start),
           chunks.start, chunks.stop, memories.id, coalesce(messages.id, origin.id),
           coalesce(messages.session_id, origin.session_id), coalesce(messages.position, origin.position),
           notes.folder, notes.path, chunks.first_line, chunks.last_line
      FROM numbers(:numbers) AS wanted
     INNER JOIN chunks ON chunks.number = wanted.value
      LEFT JOIN messages ON chunks.source = 'sessions' AND messages.number = chunks.source_number
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN notes ON chunks.source = 'notes' AND notes.number = chunks.source_number
      LEFT JOIN messages AS origin ON origin.id = memories.message_id
     -- A piece whose row is gone has nothing to show.
     WHERE coalesce(messages.number, memories.number, notes.number) IS NOT NULL
"""
# The turn beside another is nearly always stored beside it: try that row first, because to find it by its position
# in the session reads pages of an index. A turn without a chunk is not shown: it is empty, or quarantined.
# In two parts, and without EXISTS: PostgreSQL would take each of them for a reason to read all chunks of the vault.
_BESIDE = """
    WITH near AS MATERIALIZED (
        SELECT wanted.value AS wanted, step.value AS step, found.number AS chunk, coalesce(
               (SELECT number FROM messages AS beside WHERE beside.number = hit.number + step.value
                   AND beside.session_id = hit.session_id AND beside.position = hit.position + step.value),
               (SELECT number FROM messages AS beside
                 WHERE beside.session_id = hit.session_id AND beside.position = hit.position + step.value)) AS number
          FROM numbers(:numbers) AS wanted
         INNER JOIN chunks AS found ON found.number = wanted.value AND found.source = 'sessions'
         INNER JOIN messages AS hit ON hit.number = found.source_number
         INNER JOIN numbers(:steps) AS step ON step.value <> 0)
    SELECT near.wanted, near.step, other.id, other.position, other.speaker, other.trust, other.text, other.role
      FROM near INNER JOIN messages AS other ON other.number = near.number
     WHERE coalesce(
           (SELECT chunks.number FROM chunks WHERE chunks.number = near.chunk + near.step
               AND chunks.source = 'sessions' AND chunks.source_number = other.number),
           (SELECT max(chunks.number) FROM chunks
             WHERE chunks.source = 'sessions' AND chunks.source_number = other.number)) IS NOT NULL
"""
_BESIDE_FILTERED = f"""
    WITH near AS MATERIALIZED (
        SELECT wanted.value AS wanted, hit.position AS place, other.number AS number
          FROM numbers(:numbers) AS wanted
         INNER JOIN chunks AS found ON found.number = wanted.value AND found.source = 'sessions'
         INNER JOIN messages AS hit ON hit.number = found.source_number
         INNER JOIN messages AS other ON other.session_id = hit.session_id
               AND other.position IN (hit.position - 1, hit.position + 1)),
    shown AS MATERIALIZED (
        SELECT near.wanted, near.place, beside.*
          FROM near INNER JOIN chunks AS beside ON beside.source = 'sessions' AND beside.source_number = near.number)
    SELECT chunks.wanted, messages.position - chunks.place, messages.id, messages.position,
           messages.speaker, messages.trust, messages.text, messages.role
      FROM shown AS chunks {SOURCES}
     WHERE {FILTERED}
"""  # noqa: S608
# The message itself; for a memory, the message it was said in and every message it cites.
_TRUSTS = """
    SELECT id, trust FROM messages WHERE id IN (SELECT value FROM texts(:ids))
     UNION
    SELECT memories.id, messages.trust FROM memories JOIN messages ON messages.id = memories.message_id
     WHERE memories.id IN (SELECT value FROM texts(:ids))
     UNION
    SELECT citations.memory_id, messages.trust FROM citations JOIN messages ON messages.id = citations.message_id
     WHERE citations.memory_id IN (SELECT value FROM texts(:ids))
"""


class ChunkDetail(NamedTuple):
    """The text of a chunk and its position."""

    number: int
    text: str
    start: int
    stop: int
    memory_id: str | None
    message_id: str | None
    session_id: str | None
    position: int | None
    folder: str | None
    path: str | None
    first_line: int | None
    last_line: int | None


def details(tx: Tx, numbers: Iterable[int]) -> dict[int, ChunkDetail]:
    """Return the text and position of each chunk, by number."""
    found = map(ChunkDetail._make, tx.rows(_DETAILS, {"numbers": to_json_list(numbers)}))
    if tx.reads_texts:
        return {one.number: one for one in found}
    return {one.number: one._replace(text=one.text[one.start : one.stop]) for one in found}


def adjacent_turns(tx: Tx, numbers: Iterable[int], params: Params, *, filtered: bool) -> list[Row]:
    """Return, for each chunk of a turn, the turns before and after it that the filters allow.

    A row has the chunk, the step to the turn, and the turn's id, position, author, trust and text.
    """
    wanted = {"numbers": to_json_list(numbers)}
    rows = (
        tx.rows(_BESIDE_FILTERED, {**params, **wanted}) if filtered else tx.rows(_BESIDE, {**wanted, "steps": "[-1,1]"})
    )
    return [(*row[:4], row[7] if row[4] is None else row[4], *row[5:7]) for row in rows]


def trusts_behind(tx: Tx, ids: list[str]) -> dict[str, set[Trust]]:
    """Return the trust of the messages that each memory or message came from, by its id."""
    found: dict[str, set[Trust]] = {}
    for id_, trust in tx.rows(_TRUSTS, {"ids": json.dumps(ids)}) if ids else ():
        found.setdefault(id_, set()).add(Trust(trust))
    return found
