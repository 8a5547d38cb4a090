"""Turns chosen chunks into hits with their text, position and adjacent turns."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from recollectum.domain.hit import Hit, Neighbour, Reasons, Source, SourceKind
from recollectum.domain.trust import Trust
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import hit_rows
from recollectum.storage.tables.index.hit_rows import ChunkDetail
from recollectum.storage.tables.index.search import Evidence
from recollectum.storage.times import moment

#: Of a neighbour, in characters: enough to see what a hit answers.
_NEIGHBOUR = 600


class AdjacentTurns(NamedTuple):
    """The turns around one."""

    before: Neighbour | None
    after: Neighbour | None


_NO_TURNS = AdjacentTurns(None, None)


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
    rows = hit_rows.adjacent_turns(tx, numbers, within.params, filtered=within.filtered)
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
