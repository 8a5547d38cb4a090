"""Parts: everything that may go into a context, as pieces that can be taken one by one."""

from collections.abc import Sequence
from functools import partial

from recollectum.context.fencing import quoted, without_mark
from recollectum.context.filling import Filling, Piece
from recollectum.context.rendering import TRUSTED, bullet, frame, recalled
from recollectum.domain.context import Budget, PartKind, RecalledText
from recollectum.domain.summary import Summary

#: Of texts that may be passed over, so many times the most that may go in are looked at.
_LOOK = 2


def notes(text: str, mark: str) -> Filling:
    """The global notes, line by line, as they were written."""
    lines = text.strip().splitlines()
    return _numbered(PartKind.NOTES, lines, [partial(without_mark, line, mark) for line in lines], mark)


def bullets(kind: PartKind, texts: Sequence[str], mark: str) -> Filling:
    """The profile or the learnings, bullet by bullet."""
    return _numbered(kind, texts, [partial(bullet, text, mark) for text in texts], mark)


def summary(made: Summary, mark: str) -> Filling:
    """A summary, line by line, behind its fence."""
    lines = made.text.strip().splitlines()
    return _numbered(PartKind.SUMMARY, lines, [partial(quoted, line, mark) for line in lines], mark, made)


def memories(found: Sequence[RecalledText], budget: Budget, mark: str) -> Filling:
    """What was recalled, the best first, behind its fence."""
    looked_at = budget.memories * _LOOK
    return Filling(
        kind=PartKind.MEMORY,
        frame=frame(PartKind.MEMORY, mark),
        pieces=[
            Piece(id=one.id, render=partial(recalled, one, mark), words=one.text, untrusted=one.trust not in TRUSTED)
            for one in found[:looked_at]
        ],
        most=budget.memories,
        others=[one.id for one in found[looked_at:]],
        most_untrusted=budget.untrusted,
        in_order=False,
    )


def _numbered(
    kind: PartKind, words: Sequence[str], renders: Sequence[partial[str]], mark: str, made: Summary | None = None
) -> Filling:
    pieces = [
        Piece(id=str(number), render=render, words=text)
        for number, (text, render) in enumerate(zip(words, renders, strict=True), start=1)
    ]
    return Filling(kind=kind, frame=frame(kind, mark, made), pieces=pieces, most=len(pieces))
