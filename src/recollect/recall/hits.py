"""Chosen candidates as hits: their words, the exact place of these, and what was said beside them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from recollect.domain.hit import Hit, Neighbour, Reasons, Source, SourceKind
from recollect.domain.trust import Trust
from recollect.recall.evidence import Evidence, to_list
from recollect.recall.filters import FILTERED, ROWS
from recollect.storage.port import Params, Tx
from recollect.storage.times import moment

#: Of a neighbour, in characters: enough to see what a hit answers.
_NEIGHBOUR = 600
_DETAILS = """
    SELECT chunks.number,
           substr(coalesce(memories.content, messages.text, notes.text), chunks.start + 1, chunks.stop - chunks.start),
           chunks.start, chunks.stop, memories.id, coalesce(messages.id, origin.id),
           coalesce(messages.session_id, origin.session_id), coalesce(messages.position, origin.position),
           notes.folder, notes.path, chunks.first_line, chunks.last_line
      FROM json_each(:numbers) AS wanted
     CROSS JOIN chunks ON chunks.number = wanted.value
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN messages ON chunks.source = 'sessions' AND messages.number = chunks.source_number
      LEFT JOIN notes ON chunks.source = 'notes' AND notes.number = chunks.source_number
      LEFT JOIN messages AS origin ON origin.id = memories.message_id
     -- A piece whose row is gone has nothing to show.
     WHERE coalesce(memories.number, messages.number, notes.number) IS NOT NULL
"""
_BESIDE = f"""
    SELECT wanted.value, messages.position - hit.position, messages.id, messages.position,
           coalesce(messages.speaker, messages.role), messages.text
      FROM json_each(:numbers) AS wanted
     CROSS JOIN chunks AS found ON found.number = wanted.value AND found.source = 'sessions'
     CROSS JOIN messages AS hit ON hit.number = found.source_number
     CROSS JOIN messages AS other ON other.session_id = hit.session_id
           AND other.position IN (hit.position - 1, hit.position + 1)
     CROSS JOIN chunks AS beside ON beside.source = 'sessions' AND beside.source_number = other.number
     {ROWS.format(numbers="beside.number")}
     WHERE {FILTERED}
"""  # noqa: S608  (constants of these files)


class Detail(NamedTuple):
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


def details(tx: Tx, numbers: Iterable[int]) -> dict[int, Detail]:
    """The words of each chunk and their place, by number."""
    return {row[0]: Detail._make(row) for row in tx.rows(_DETAILS, {"numbers": to_list(numbers)})}


def to_hit(found: Evidence, detail: Detail, score: float, reasons: Reasons) -> Hit:
    """One chunk as a hit."""
    return Hit(
        text=detail.text,
        score=score,
        source=_source(found, detail),
        trust=Trust(found.trust),
        author=found.author,
        created_at=moment(found.created),
        reasons=reasons,
    )


def to_share(score: float) -> float:
    """A score between 0 and 1, in the same order: standard deviations mean nothing to a reader."""
    return 1 / (1 + math.exp(-score / 2))


def with_neighbours(tx: Tx, hits: Mapping[int, Hit], params: Params) -> list[Hit]:
    """Hits by the numbers of their chunks, in order, each turn with the turns beside it that the filters leave."""
    beside: dict[tuple[int, int], Neighbour] = {}
    for number, step, message_id, position, author, text in tx.rows(_BESIDE, {**params, "numbers": to_list(hits)}):
        shown = _last(text) if step < 0 else _first(text)
        beside[number, step] = Neighbour(message_id=message_id, position=position, author=author, text=shown)
    return [
        replace(hit, before=beside.get((number, -1)), after=beside.get((number, 1)))
        if (number, -1) in beside or (number, 1) in beside
        else hit
        for number, hit in hits.items()
    ]


def _source(found: Evidence, detail: Detail) -> Source:
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


def _first(text: str) -> str:
    return text if len(text) <= _NEIGHBOUR else text[:_NEIGHBOUR] + "…"


def _last(text: str) -> str:
    return text if len(text) <= _NEIGHBOUR else "…" + text[-_NEIGHBOUR:]
