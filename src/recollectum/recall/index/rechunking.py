"""Detects chunks that another version made, and rebuilds them a few rows at a time."""

from collections.abc import Callable
from typing import Final

from recollectum.domain.hit import Chunk, SourceKind
from recollectum.domain.memory import State
from recollectum.recall.index.chunk_index import (
    index_message,
    memory_chunks,
    message_chunks,
    reindex_memory,
    reindex_note,
)
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, messages, notes
from recollectum.storage.tables.index import chunks
from recollectum.storage.tables.trail import meta, quarantines

#: The version of the chunking: a digest of the chunks and terms of a specimen. A test computes it, and fails with the
#: new value when anything is cut or indexed differently.
MARK: Final = "89b21cf0c0987716"
#: The version of vaults from before versions were recorded.
FIRST: Final = "89b21cf0c0987716"
#: The names in meta of the version, and of how far the rechunking has come.
NAME: Final = "index_chunking"
_DONE: Final = "index_chunking_done"
_ORDER: Final = (SourceKind.MEMORIES, SourceKind.SESSIONS, SourceKind.NOTES)


def is_due(tx: Tx) -> bool:
    """Return whether another version made the chunks of a vault."""
    return (meta.find(tx, NAME) or FIRST) != MARK


def note_done(tx: Tx) -> None:
    """Record that this version made all chunks."""
    meta.save(tx, NAME, MARK)
    meta.save(tx, _DONE, "")


def step(tx: Tx, limit: int) -> int:
    """Rechunk the next rows, and return how many; 0 when all are done. The rows stay searchable all the time."""
    if not is_due(tx):
        return 0
    at, number = _load_position(tx)
    for source in _ORDER[at:]:
        if handled := _RECHUNK[source](tx, number, limit):
            meta.save(tx, _DONE, f"{MARK} {source} {handled[-1]}")
            return len(handled)
        number = 0
    note_done(tx)
    return 0


def _load_position(tx: Tx) -> tuple[int, int]:
    """Return the source that is being rechunked and its last row; start again if another version began it."""
    mark, _, rest = (meta.find(tx, _DONE) or "").partition(" ")
    source, _, number = rest.partition(" ")
    return (_ORDER.index(SourceKind(source)), int(number)) if mark == MARK else (0, 0)


def _memories(tx: Tx, after: int, limit: int) -> list[int]:
    found = memories.following(tx, after, limit)
    for number, memory in found:
        pieces = list(memory_chunks(memory)) if memory.state is State.ACTIVE else []
        if not _keeps_chunks(tx, SourceKind.MEMORIES, number, pieces):
            reindex_memory(tx, number, memory)
    return [number for number, _ in found]


def _messages(tx: Tx, after: int, limit: int) -> list[int]:
    found = messages.following(tx, after, limit)
    aside = quarantines.numbers(tx)
    for number, message in found:
        if number not in aside and not _keeps_chunks(tx, SourceKind.SESSIONS, number, list(message_chunks(message))):
            chunks.remove(tx, SourceKind.SESSIONS, number)
            index_message(tx, number, message)
    return [number for number, _ in found]


def _notes(tx: Tx, after: int, limit: int) -> list[int]:
    found = notes.following(tx, after, limit)
    for number, path, text in found:
        # Headings and lines may differ even if the chunks are the same; cached vectors are used again.
        reindex_note(tx, number, path, text)
    return [row[0] for row in found]


def _keeps_chunks(tx: Tx, source: SourceKind, number: int, pieces: list[tuple[Chunk, str]]) -> bool:
    """Return whether a row is cut as before; then only its terms are rebuilt, and its vectors stay."""
    if [tuple(row) for row in chunks.spans(tx, source, number)] != [(one.start, one.end) for one, _ in pieces]:
        return False
    chunks.set_terms(tx, source, number, [terms for _, terms in pieces])
    return True


_RECHUNK: Final[dict[SourceKind, Callable[[Tx, int, int], list[int]]]] = {
    SourceKind.MEMORIES: _memories,
    SourceKind.SESSIONS: _messages,
    SourceKind.NOTES: _notes,
}
