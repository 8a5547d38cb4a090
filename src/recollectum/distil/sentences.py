"""Finds the sentences of a text, without list marks and speaker labels in front of them."""

import re
from collections.abc import Iterator

from recollectum.domain.records import dataclass

_BORDER = re.compile(r"(?<=[.!?…])[\"'”’)\]]*[ \t\f\v]+|(?<=[。！？])|[\r\n\x85\u2028\u2029]+")
_SHORT = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|No|vs|etc|e\.g|i\.e|approx|[A-Z])\.\Z")
_LISTED = re.compile(r"\s*(?:(?:[-*+•>|]|\d{1,3}[.)])\s+)*")
_SPEAKER = re.compile(r"(?:user|assistant|system|tool): ")
_SAYS = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence or line, without its list mark and the space around it."""

    start: int
    end: int
    text: str
    #: The text before it: the mark of a list, of a quotation, of a speaker; mostly empty.
    lead: str = ""


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, in order; a piece without a word is none."""
    for start, end in _ranges(text):
        piece = text[start:end]
        lead = _lead(piece)
        said = piece[lead:].rstrip()
        if _SAYS.search(said):
            yield Sentence(start + lead, start + lead + len(said), said, piece[:lead].strip())


def around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range widened to whole sentences."""
    touched = [(left, right) for left, right in _ranges(text) if left < end and start < right]
    return (min(start, touched[0][0]), max(end, touched[-1][1])) if touched else (start, end)


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for border in _BORDER.finditer(text):
        # The point of "Dr." ends no sentence; the end of a line always does.
        if (
            not border[0].strip(" \t\f\v")
            and border[0]
            and _SHORT.search(text[max(begin, border.start() - 8) : border.start()])
        ):
            continue
        if border.start() > begin:
            yield begin, border.start() + len(border[0].rstrip())
        begin = border.end()
    if begin < len(text):
        yield begin, len(text)


def _lead(piece: str) -> int:
    listed = _LISTED.match(piece)
    end = listed.end() if listed else 0
    speaker = _SPEAKER.match(piece, end)
    return speaker.end() if speaker else end
