"""Reads the chunks of each source together with the texts that their search terms are made from."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from recollectum.domain.hit import SourceKind
from recollectum.storage.port import Row, Tx

_PAGE = 512
_TEXTS: Mapping[SourceKind, str] = {
    SourceKind.MEMORIES: "SELECT number, content, key FROM memories WHERE number > :after ORDER BY number LIMIT :most",
    SourceKind.SESSIONS: "SELECT number, text, NULL FROM messages WHERE number > :after ORDER BY number LIMIT :most",
    SourceKind.NOTES: "SELECT number, text, path FROM notes WHERE number > :after ORDER BY number LIMIT :most",
}
_CHUNKS = """
    SELECT source_number, number, start, stop, headings FROM chunks
     WHERE source = :source AND source_number > :after AND source_number <= :last ORDER BY source_number, number
"""


class ChunkRow(NamedTuple):
    """One chunk: its number, its span in the text, and the headings above it in a note."""

    number: int
    start: int
    stop: int
    headings: str | None


class ChunkedText(NamedTuple):
    """A text with its chunks; `name` is the key of a memory or the path of a note."""

    text: str
    name: str | None
    chunks: tuple[ChunkRow, ...]


def of_source(tx: Tx, source: SourceKind) -> Iterator[ChunkedText]:
    """Yield each text of one source that has chunks."""
    after = 0
    while texts := tx.rows(_TEXTS[source], {"after": after, "most": _PAGE}):
        last = texts[-1][0]
        chunks: dict[int, list[Row]] = {}
        for owner, *rest in tx.rows(_CHUNKS, {"source": source.value, "after": after, "last": last}):
            chunks.setdefault(owner, []).append(tuple(rest))
        for number, text, name in texts:
            if number in chunks:
                yield ChunkedText(text, name, tuple(ChunkRow(*row) for row in chunks[number]))
        after = last
