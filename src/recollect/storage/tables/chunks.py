"""The chunks table: which piece of which memory or message each entry of the index is. Derived."""

from collections.abc import Iterable

from recollect.domain.chunk import Chunk
from recollect.domain.hit import SourceKind
from recollect.storage.port import Tx

_ADD = """
    INSERT INTO chunks (source, source_number, start, stop) VALUES (:source, :source_number, :start, :stop)
    RETURNING number
"""
_REMOVE = "DELETE FROM chunks WHERE source = :source AND source_number = :source_number RETURNING number"
_CLEAR = "DELETE FROM chunks RETURNING number"
_COUNT = "SELECT count(*) FROM chunks"
_MISSING = """
    SELECT (SELECT count(*) FROM memories WHERE state = 'active' AND NOT EXISTS (
                SELECT 1 FROM chunks WHERE source = 'memories' AND source_number = memories.number))
         + (SELECT count(*) FROM messages WHERE text <> '' AND NOT EXISTS (
                SELECT 1 FROM chunks WHERE source = 'sessions' AND source_number = messages.number))
"""
_STRAY = """
    SELECT count(*) FROM chunks
     WHERE (source = 'memories' AND NOT EXISTS (
                SELECT 1 FROM memories WHERE number = chunks.source_number AND state = 'active'))
        OR (source = 'sessions' AND NOT EXISTS (SELECT 1 FROM messages WHERE number = chunks.source_number))
"""


def add(tx: Tx, source: SourceKind, number: int, pieces: Iterable[tuple[Chunk, str]]) -> None:
    """Index each piece of one row under its terms."""
    for chunk, terms in pieces:
        params = {"source": source.value, "source_number": number, "start": chunk.start, "stop": chunk.end}
        entry = tx.rows(_ADD, params)[0][0]
        tx.text.add([(entry, terms)])


def remove(tx: Tx, source: SourceKind, number: int) -> None:
    """Take one row out of the index; doing it again changes nothing."""
    rows = tx.rows(_REMOVE, {"source": source.value, "source_number": number})
    tx.text.remove(row[0] for row in rows)


def clear(tx: Tx) -> None:
    """Drop the whole index."""
    tx.text.remove(row[0] for row in tx.rows(_CLEAR, {}))


def count(tx: Tx) -> int:
    """How many pieces there are."""
    return tx.rows(_COUNT, {})[0][0]


def drift(tx: Tx) -> tuple[int, int]:
    """How many rows have no piece, and how many pieces have no row."""
    return tx.rows(_MISSING, {})[0][0], tx.rows(_STRAY, {})[0][0]
