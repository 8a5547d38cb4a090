"""Splits a text that memory served into its blocks, which are recognised without their marks."""

import hmac
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollectum.context.echoes import TAG, WRAPPER
from recollectum.context.rendering import LEADS

_DIGEST_BYTES = 16
_LINE = re.compile(r"[^\n]+")
_ENDS = re.compile(rf"(?:\s|{WRAPPER.pattern})*")
_LABELLED, _LONGEST_LABEL = "; trust: ", 1000
_SUMMARISED, _SUMMARISED_BY = "[up to message ", "; by: "
#: The longest tag of a wrapper with its escapes, and the most of them at the end of one line.
_LONGEST_TAG, _MAX_TAGS = 60, 4
#: The beginnings of lines that continue a block.
_CONTINUED = ("- ", "| ")
#: Headings of parts without labels, and lines that belong to no block.
_HEADINGS = frozenset(first for first, *more in LEADS.values() if not more)
#: How every heading begins.
_HEADING = "# "
_BETWEEN = frozenset(line for lines in LEADS.values() for line in lines) - _HEADINGS


#: A text in which a block may begin has one of these.
BEGINNINGS = (_LABELLED, _SUMMARISED, *sorted(_HEADINGS))


class ServedLine(NamedTuple):
    """A line without its wrappers, escapes and outer white space, and its place in the text."""

    start: int
    end: int
    words: str

    @property
    def begins_block(self) -> bool:
        """Whether a block of ours may begin here."""
        words = self.words
        if words in _HEADINGS:
            return True
        if not (words.startswith("[") and words.endswith("]") and len(words) < _LONGEST_LABEL):
            return False
        return _LABELLED in words or (words.startswith(_SUMMARISED) and _SUMMARISED_BY in words)

    @property
    def continues_block(self) -> bool:
        """Whether the line belongs to the block before it."""
        return self.words.startswith(_CONTINUED)

    @property
    def introduces_blocks(self) -> bool:
        """Whether the line is a heading or sentence before labelled blocks."""
        return self.words in _BETWEEN


def may_hold_blocks(text: str) -> bool:
    """Return whether a text has a line that may begin a block; most texts have none."""
    if _LABELLED in text or _SUMMARISED in text:
        return True
    return _HEADING in text and any(heading in text for heading in _HEADINGS)


def blocks(text: str) -> Iterator[list[ServedLine]]:
    """Yield each block of at least two lines: a label or heading, and the lines up to the next one."""
    block: list[ServedLine] = []
    for line in lines(text):
        if line.begins_block or line.introduces_blocks:
            if len(block) > 1:
                yield block
            block = [line] if line.begins_block else []
        elif block:
            block.append(line)
    if len(block) > 1:
        yield block


def digest(key: str, block: Sequence[ServedLine]) -> bytes:
    """Return the keyed digest of a block."""
    text = "\n".join(line.words for line in block).encode()
    return hmac.digest(bytes.fromhex(key), text, "sha256")[:_DIGEST_BYTES]


def lines(text: str) -> Iterator[ServedLine]:
    """Yield the lines that say something, without fences."""
    for found in _LINE.finditer(text):
        line = found[0]
        begun = _ENDS.match(line)
        left = begun.end() if begun else 0
        right = _end_of_words(line, left)
        words = _unescaped(line[left:right]).strip()
        if words and not TAG.fullmatch(words):
            yield ServedLine(found.start() + left, found.start() + right, words)


def _unescaped(words: str) -> str:
    if "&" not in words:
        return words
    # Imported here: its table of names is large, and few texts need it.
    from html import unescape  # noqa: PLC0415

    return unescape(words)


def _end_of_words(line: str, left: int) -> int:
    """Return the end of a line without the tags of wrappers and white space there."""
    right = len(line.rstrip())
    for _ in range(_MAX_TAGS):
        tags = list(WRAPPER.finditer(line, max(left, right - _LONGEST_TAG), right))
        if not tags or tags[-1].end() != right:
            break
        right = left + len(line[left : tags[-1].start()].rstrip())
    return max(left, right)
