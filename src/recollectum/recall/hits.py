"""Turns chosen chunks into hits with their text, position and adjacent turns."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from recollectum.domain.hit import Hit, Neighbour, Reasons, Source, SourceKind
from recollectum.domain.trust import Trust
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.recall.evidence import Evidence, to_json_list
from recollectum.recall.filters import FILTERED, ROWS
from recollectum.storage.port import Tx
from recollectum.storage.times import moment

#: Of a neighbour, in characters: enough to see what a hit answers.
_NEIGHBOUR = 600
_TURNS = """
    SELECT chunks.number, substr(messages.text, chunks.start + 1, chunks.stop - chunks.start), chunks.start,
           chunks.stop, NULL, messages.id, messages.session_id, messages.position, NULL, NULL, NULL, NULL
      FROM json_each(:numbers) AS wanted
     CROSS JOIN chunks ON chunks.number = wanted.value
     CROSS JOIN messages ON messages.number = chunks.source_number
"""
_WRITTEN = """
    SELECT chunks.number,
           substr(coalesce(memories.content, notes.text), chunks.start + 1, chunks.stop - chunks.start),
           chunks.start, chunks.stop, memories.id, origin.id, origin.session_id, origin.position,
           notes.folder, notes.path, chunks.first_line, chunks.last_line
      FROM json_each(:numbers) AS wanted
     CROSS JOIN chunks ON chunks.number = wanted.value
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN notes ON chunks.source = 'notes' AND notes.number = chunks.source_number
      LEFT JOIN messages AS origin ON origin.id = memories.message_id
     -- A piece whose row is gone has nothing to show.
     WHERE coalesce(memories.number, notes.number) IS NOT NULL
"""
_NEAR = """
    SELECT wanted.value, {other}.position - hit.position, {other}.id, {other}.position,
           coalesce({other}.speaker, {other}.role), {other}.trust, {other}.text
      FROM json_each(:numbers) AS wanted
     CROSS JOIN chunks AS found ON found.number = wanted.value AND found.source = 'sessions'
     CROSS JOIN messages AS hit ON hit.number = found.source_number
     CROSS JOIN messages AS other ON other.session_id = hit.session_id
           AND other.position IN (hit.position - 1, hit.position + 1)
"""
# What has no piece is not shown: it is empty, or it was set aside.
_BESIDE = f"""
    {_NEAR.format(other="other")}
     WHERE EXISTS (SELECT 1 FROM chunks WHERE chunks.source = 'sessions' AND chunks.source_number = other.number)
"""  # noqa: S608  (constants of these files)
_BESIDE_FILTERED = f"""
    {_NEAR.format(other="messages")}
     CROSS JOIN chunks AS beside ON beside.source = 'sessions' AND beside.source_number = other.number
     {ROWS.format(numbers="beside.number")}
     WHERE {FILTERED}
"""


class ChunkDetail(NamedTuple):
    """The words of a chunk and where they stand."""

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


class AdjacentTurns(NamedTuple):
    """The turns around one."""

    before: Neighbour | None
    after: Neighbour | None


_NO_TURNS = AdjacentTurns(None, None)


def load_details(tx: Tx, known: Iterable[Evidence]) -> dict[int, ChunkDetail]:
    """The words of each chunk and their place, by number."""
    turns: list[int] = []
    written: list[int] = []
    for one in known:
        (turns if one.source == "sessions" else written).append(one.number)
    found = tx.rows(_TURNS, {"numbers": to_json_list(turns)}) if turns else []
    if written:
        found += tx.rows(_WRITTEN, {"numbers": to_json_list(written)})
    return {row[0]: ChunkDetail._make(row) for row in found}


def to_hit(
    found: Evidence, detail: ChunkDetail, score: float, reasons: Reasons, beside: AdjacentTurns | None = None
) -> Hit:
    """One chunk as a hit."""
    before, after = beside or _NO_TURNS
    return Hit(
        text=detail.text,
        score=score,
        source=_source(found, detail),
        trust=Trust(found.trust),
        author=found.author,
        created_at=moment(found.created),
        reasons=reasons,
        before=before,
        after=after,
    )


def to_unit_score(score: float) -> float:
    """A score between 0 and 1, in the same order: standard deviations mean nothing to a reader."""
    return 1 / (1 + math.exp(-score / 2))


def load_adjacent_turns(tx: Tx, numbers: Iterable[int], within: AllowedChunks) -> dict[int, AdjacentTurns]:
    """For each chunk of a turn the turns before and after it, as far as the filters leave them."""
    found: dict[int, AdjacentTurns] = {}
    wanted = {"numbers": to_json_list(numbers)}
    rows = tx.rows(_BESIDE_FILTERED, {**within.params, **wanted}) if within.filtered else tx.rows(_BESIDE, wanted)
    for number, step, message_id, position, author, trust, text in rows:
        shown = _tail_of(text) if step < 0 else _head_of(text)
        one = Neighbour(message_id=message_id, position=position, author=author, trust=Trust(trust), text=shown)
        before, after = found.get(number, _NO_TURNS)
        found[number] = AdjacentTurns(one, after) if step < 0 else AdjacentTurns(before, one)
    return found


def _source(found: Evidence, detail: ChunkDetail) -> Source:
    return Source(
        kind=SourceKind(found.source),
        memory_id=detail.memory_id,
        session_id=detail.session_id,
        message_id=detail.message_id,
        position=detail.position,
        path=None if detail.folder is None else f"{detail.folder.rstrip('/')}/{detail.path}",
        first_line=detail.first_line,
        last_line=detail.last_line,
        start=detail.start,
        end=detail.stop,
    )


def _head_of(text: str) -> str:
    return text if len(text) <= _NEIGHBOUR else text[:_NEIGHBOUR] + "…"


def _tail_of(text: str) -> str:
    return text if len(text) <= _NEIGHBOUR else "…" + text[-_NEIGHBOUR:]
