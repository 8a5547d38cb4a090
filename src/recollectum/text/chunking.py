"""Splits a long text into overlapping chunks, cut where a reader would pause."""

import re

from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import Chunk
from recollectum.domain.notice import INDEXED

# The places to cut, best first; each match ends where the next chunk may begin.
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？｡]+|\n\s*")
_WORD = re.compile(r"\s+")
_BORDERS = (_PARAGRAPH, _SENTENCE, _WORD)
# Characters that may not begin a chunk, because they belong to the character before.
_JOINED = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
_LONGEST_CLUSTER = 32


def chunks(text: str, *, size: int = 1600, overlap: int = 160) -> list[Chunk]:
    """Return the text in chunks of at most `size` characters that cover all of it; a short text is one chunk."""
    if size < 1 or not 0 <= overlap <= size // 2:
        raise InvalidInput(f"chunks of {size} with {overlap} shared cannot be cut; share at most half of at least 1")
    pieces: list[Chunk] = []
    start = 0
    while start < len(text):
        end = _cut(text, start, size, overlap)
        pieces.append(Chunk(text[start:end], start, end))
        if end == len(text):
            break
        start = _begin(text, end, overlap)
    return pieces


def indexed_chunks(text: str) -> list[Chunk]:
    """Return the pieces of a memory or a message that are searched: those of its first `INDEXED` characters."""
    # Each piece is read together with its whole text: without a bound the cost would grow with the square of the text.
    return chunks(text[:INDEXED])


def _cut(text: str, start: int, size: int, overlap: int) -> int:
    """Return the end of the chunk that begins at `start`: the last border in its second half, or the size limit."""
    end = start + size
    if end >= len(text):
        return len(text)
    # Cut after the overlap, so that the next chunk begins later than this one.
    earliest = start + max(size // 2, overlap + 1)
    for border in _BORDERS:
        if cut := _last_end(border, text, earliest, end):
            return cut
    return _before_cluster(text, earliest, end)


def _last_end(border: re.Pattern[str], text: str, earliest: int, end: int) -> int | None:
    last = None
    for found in border.finditer(text, earliest, end):
        last = found.end()
    return last


def _before_cluster(text: str, earliest: int, end: int) -> int:
    """Return the last position up to `end` that does not split a character from its combining marks."""
    for cut in range(end, max(earliest, end - _LONGEST_CLUSTER), -1):
        if not _JOINED.match(text, cut) and text[cut - 1] != "\u200d":
            return cut
    return end


def _begin(text: str, end: int, overlap: int) -> int:
    """Return the start of the next chunk: the first word in the overlap, or the overlap's start without a border."""
    earliest = end - overlap
    found = _WORD.search(text, earliest, end) if overlap else None
    # A border at the very end would leave no overlap; then half a word is better than none.
    return found.end() if found and found.end() < end else earliest
