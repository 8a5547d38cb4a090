"""Turns chosen chunks into hits with their text, position and adjacent turns."""

import math
from collections.abc import Sequence
from dataclasses import replace

from recollectum.domain.hit import Hit, Neighbour, Reasons, Source, SourceKind
from recollectum.domain.trust import Trust
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import hit_rows
from recollectum.storage.tables.index.hit_rows import ChunkDetail
from recollectum.storage.tables.index.search import Evidence
from recollectum.storage.times import moment

#: Characters of a neighbour: enough to see what a hit answers.
_NEIGHBOUR = 600


def to_hit(found: Evidence, detail: ChunkDetail, score: float, reasons: Reasons) -> Hit:
    """Return one chunk as a hit."""
    return Hit(
        text=detail.text,
        score=score,
        source=_source(found, detail),
        trust=Trust(found.trust),
        author=found.author,
        created_at=moment(found.created),
        reasons=reasons,
    )


def to_unit_score(score: float) -> float:
    """Return a score between 0 and 1, in the same order: standard deviations mean nothing to a reader."""
    return 1 / (1 + math.exp(-score / 2))


def add_adjacent_turns(tx: Tx, hits: Sequence[tuple[int, Hit]], within: AllowedChunks) -> list[Hit]:
    """Return the hits, each with the adjacent turns that the filters allow."""
    before: dict[int, Neighbour] = {}
    after: dict[int, Neighbour] = {}
    turns = [number for number, hit in hits if hit.source.kind is SourceKind.SESSIONS]
    rows = hit_rows.adjacent_turns(tx, turns, within.params, filtered=within.filtered) if turns else []
    for number, step, message_id, position, author, trust, text in rows:
        shown = _tail_of(text) if step < 0 else _head_of(text)
        one = Neighbour(message_id=message_id, position=position, author=author, trust=Trust(trust), text=shown)
        (before if step < 0 else after)[number] = one
    return [
        replace(hit, before=before.get(number), after=after.get(number)) if number in before or number in after else hit
        for number, hit in hits
    ]


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
