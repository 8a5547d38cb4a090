"""Compares two texts word by word."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from recollectum.doors.console.rendering import shown

# A word includes the space after it: separate spaces would match everywhere and split sentences into fragments.
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
#: Above this many words whole lines are compared, because the work is quadratic.
_MOST_WORDS = 1500
_MOST_LINES = 4000


class WordChange(StrEnum):
    """What became of a piece of text."""

    SAME = "same"
    GONE = "gone"
    NEW = "new"


class DiffPiece(NamedTuple):
    """A run of text and what became of it."""

    change: WordChange
    text: str


def diff_words(before: str, after: str) -> list[DiffPiece]:
    """Return the two texts as one sequence of kept, removed and added pieces, in reading order."""
    old, new = _cut(before), _cut(after)
    if max(len(old), len(new)) > _MOST_WORDS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(old), len(new)) > _MOST_LINES:
        return [DiffPiece(WordChange.GONE, shown(before)), DiffPiece(WordChange.NEW, shown(after))]
    pieces: list[DiffPiece] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(DiffPiece(WordChange.SAME, _joined(old[a:b])))
            continue
        pieces += [DiffPiece(WordChange.GONE, _joined(old[a:b]))] if b > a else []
        pieces += [DiffPiece(WordChange.NEW, _joined(new[c:d]))] if d > c else []
    return pieces


def _cut(text: str) -> list[str]:
    return _WORDS.findall(text[:200_000]) if len(text) <= 200_000 else text.splitlines(keepends=True)


def _joined(words: Sequence[str]) -> str:
    return shown("".join(words))
