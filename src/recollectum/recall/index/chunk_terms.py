"""Computes the search terms of the chunks that a vault has, for a text index on another engine."""

from collections.abc import Collection, Iterable, Iterator

from recollectum.domain.hit import SourceKind
from recollectum.recall.index.chunk_index import HEADING_SEPARATOR, key_words, note_chunks, note_terms
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import chunk_texts
from recollectum.storage.tables.index.chunk_texts import ChunkedText
from recollectum.text.terms.analyser import index_terms


def chunk_terms(tx: Tx, only: Collection[int] | None = None) -> Iterator[tuple[int, str]]:
    """Yield the number and the terms of each chunk, or only of these, in no special order."""
    for one in _of_source(tx, SourceKind.MEMORIES, only):
        words = key_words(one.name)
        yield from ((row.number, index_terms(one.text[row.start : row.stop] + words)) for row in one.chunks)
    for one in _of_source(tx, SourceKind.SESSIONS, only):
        yield from ((row.number, index_terms(one.text[row.start : row.stop])) for row in one.chunks)
    for one in _of_source(tx, SourceKind.NOTES, only):
        yield from _of_note(one)


def _of_source(tx: Tx, source: SourceKind, only: Collection[int] | None) -> Iterator[ChunkedText]:
    for one in chunk_texts.of_source(tx, source):
        if only is None:
            yield one
        elif chunks := tuple(row for row in one.chunks if row.number in only):
            yield one._replace(chunks=chunks)


def _of_note(one: ChunkedText) -> Iterable[tuple[int, str]]:
    # Cut again: the stored headings are one line, which cannot be split where a title contains the separator.
    cut = {(chunk.start, chunk.end): chunk.headings for chunk in note_chunks(one.text)}
    for row in one.chunks:
        stored = tuple(title for title in (row.headings or "").split(HEADING_SEPARATOR) if title)
        headings = cut.get((row.start, row.stop), stored)
        yield row.number, note_terms(one.text[row.start : row.stop], headings, one.name or "")
