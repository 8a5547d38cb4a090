"""Reads and writes the chunks table: the indexed pieces of memories, messages and notes. Rebuildable."""

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from recollectum.domain.hit import Chunk, SourceKind
from recollectum.domain.message import Message
from recollectum.storage.port import Params, Row, Tx
from recollectum.storage.row_lists import Columns, values_of
from recollectum.storage.tables.index import vectors
from recollectum.storage.times import micros

if TYPE_CHECKING:
    from recollectum.text.markdown import NoteChunk

_ADD = """
    INSERT INTO chunks (source, source_number, start, stop) VALUES (:source, :source_number, :start, :stop)
    RETURNING number
"""
# Copies what ranking needs of the turn, so that ranking does not read the turn; these values never change.
_ADD_TURN = """
    INSERT INTO chunks (source, source_number, start, stop, created_at, trust, role, speaker)
    VALUES ('sessions', :source_number, :start, :stop, :created_at,
            CASE WHEN CAST(:trust AS TEXT) <> 'unknown'
                      AND EXISTS (SELECT 1 FROM sessions WHERE id = :session_id AND imported = 1)
                 THEN 'imported' ELSE CAST(:trust AS TEXT) END,
            :role, :speaker)
    RETURNING number
"""
_ADD_NOTE = """
    INSERT INTO chunks (source, source_number, start, stop, first_line, last_line, headings)
    VALUES ('notes', :number, :start, :stop, :first_line, :last_line, :headings)
    RETURNING number
"""
# Many turns in one statement, in the order of the list; what ranking needs is joined.
_ADD_TURNS = """
    INSERT INTO chunks (source, source_number, start, stop, created_at, trust, role, speaker)
    SELECT 'sessions', one.first, one.second, one.third, messages.created_at,
           CASE WHEN sessions.imported = 1 AND messages.trust <> 'unknown' THEN 'imported' ELSE messages.trust END,
           messages.role, messages.speaker
      FROM triples(:pieces) AS one LEFT JOIN messages ON messages.number = one.first
      LEFT JOIN sessions ON sessions.id = messages.session_id ORDER BY one.key
    RETURNING number
"""
_BATCH = 500
_OF = "SELECT number FROM chunks WHERE source = :source AND source_number = :source_number ORDER BY number"
_SPANS = "SELECT start, stop FROM chunks WHERE source = :source AND source_number = :source_number ORDER BY number"
_REMOVE = "DELETE FROM chunks WHERE source = :source AND source_number = :source_number RETURNING number"
_CLEAR = "DELETE FROM chunks RETURNING number"
_COUNT = "SELECT count(*) FROM chunks"
_LAST = "SELECT coalesce(max(number), 0) FROM chunks"
_JUDGE = """
    WITH judged (number, told, own, echo) AS (VALUES {rows})
    UPDATE chunks SET told = judged.told, own = judged.own, echo = judged.echo
      FROM judged WHERE chunks.number = judged.number
"""
# A text comes with the first of its chunks only: a long note has hundreds of them.
_AFTER = """
    SELECT chunks.number, CASE WHEN place = 1 THEN memories.content END, CASE WHEN place = 1 THEN messages.text END,
           messages.speaker, messages.session_id, messages.position,
           CASE WHEN place = 1 THEN notes.text END, chunks.headings,
           messages.role, chunks.source, chunks.source_number, chunks.start, chunks.stop
      FROM (SELECT number, source, source_number, start, stop, headings,
                   row_number() OVER (PARTITION BY source, source_number ORDER BY number) AS place
              FROM (SELECT * FROM chunks WHERE number > :after ORDER BY number LIMIT :limit) AS page) AS chunks
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN messages ON chunks.source = 'sessions' AND messages.number = chunks.source_number
      LEFT JOIN notes ON chunks.source = 'notes' AND notes.number = chunks.source_number
     ORDER BY chunks.number
"""
_MISSING = """
    SELECT (SELECT count(*) FROM memories WHERE state = 'active' AND NOT EXISTS (
                SELECT 1 FROM chunks WHERE source = 'memories' AND source_number = memories.number)
              AND number NOT BETWEEN :first_memory AND :last_memory)
         + (SELECT count(*) FROM messages WHERE text <> '' AND NOT EXISTS (
                SELECT 1 FROM chunks WHERE source = 'sessions' AND source_number = messages.number)
              AND id NOT IN (SELECT item FROM quarantined) AND number NOT BETWEEN :first_message AND :last_message)
         + (SELECT count(*) FROM notes WHERE text <> '' AND NOT EXISTS (
                SELECT 1 FROM chunks WHERE source = 'notes' AND source_number = notes.number))
"""
# The allowed numbers are listed once, from an index where there is one: looking up each chunk's row reads all rows.
_STRAY = """
    SELECT (SELECT count(*) FROM chunks WHERE source = 'memories'
               AND source_number NOT IN (SELECT number FROM memories WHERE state = 'active'))
         + (SELECT count(*) FROM chunks WHERE source = 'sessions'
               AND source_number NOT IN (SELECT number FROM messages))
         + (SELECT count(*) FROM chunks WHERE source = 'notes' AND source_number NOT IN (SELECT number FROM notes))
"""


def add(tx: Tx, source: SourceKind, number: int, pieces: Iterable[tuple[Chunk, str]]) -> None:
    """Index each chunk of one row under its terms."""
    for chunk, terms in pieces:
        params = {"source": source.value, "source_number": number, "start": chunk.start, "stop": chunk.end}
        tx.text.add([(tx.rows(_ADD, params)[0][0], terms)])


def add_turn(tx: Tx, number: int, message: Message, pieces: Iterable[tuple[Chunk, str]]) -> None:
    """Index each chunk of a message under its terms, with what ranking needs of it."""
    turn: Params = {
        "source_number": number,
        "created_at": micros(message.created_at),
        "trust": message.trust.value,
        "session_id": message.session_id,
        "role": message.role.value,
        "speaker": message.speaker,
    }
    for chunk, terms in pieces:
        added = tx.rows(_ADD_TURN, {**turn, "start": chunk.start, "stop": chunk.end})
        tx.text.add([(added[0][0], terms)])


def add_turns(tx: Tx, pieces: Iterable[tuple[int, Chunk, str]]) -> None:
    """Index chunks of many turns, each with the row number of its turn and its terms; faster than one at a time."""
    waiting = iter(pieces)
    while batch := list(islice(waiting, _BATCH)):
        listed = json.dumps([(number, chunk.start, chunk.end) for number, chunk, _ in batch])
        _add_terms(tx, tx.rows(_ADD_TURNS, {"pieces": listed}), [terms for *_, terms in batch])


class ChunkColumns(NamedTuple):
    """Chunks of many memories: the row number of its memory for each, where it starts and stops, and its terms."""

    of: list[int]
    start: list[int]
    stop: list[int]
    terms: list[str]

    @classmethod
    def empty(cls) -> "ChunkColumns":
        """Return columns for new chunks."""
        return cls([], [], [], [])

    @property
    def is_full(self) -> bool:
        """Whether there are so many that they are written together."""
        return len(self.of) >= _BATCH

    def add(self, number: int, chunk: Chunk, terms: str) -> None:
        """Add a chunk with its terms."""
        self.of.append(number)
        self.start.append(chunk.start)
        self.stop.append(chunk.end)
        self.terms.append(terms)


def add_of_memories(tx: Tx, chunks: ChunkColumns) -> None:
    """Index chunks of many memories."""
    if not chunks.of:
        return
    source = [SourceKind.MEMORIES.value] * len(chunks.of)
    rows = Columns({"source": source, "source_number": chunks.of, "start": chunks.start, "stop": chunks.stop})
    _add_terms(tx, tx.add_rows(_ADD, rows), chunks.terms)


def _add_terms(tx: Tx, added: Sequence[Row], terms: Sequence[str]) -> None:
    # Numbers only grow, so their order is that of the list, whatever order RETURNING gives.
    tx.text.add(zip(sorted([row[0] for row in added]), terms, strict=True))


def add_note(tx: Tx, number: int, pieces: Iterable[tuple["NoteChunk", str, str]]) -> None:
    """Index each chunk of a note under its terms, with its lines and headings."""
    for chunk, headings, terms in pieces:
        params = {"number": number, "start": chunk.start, "stop": chunk.end, "headings": headings}
        lines = {"first_line": chunk.first_line, "last_line": chunk.last_line}
        tx.text.add([(tx.rows(_ADD_NOTE, {**params, **lines})[0][0], terms)])


def set_terms(tx: Tx, source: SourceKind, number: int, terms: Iterable[str]) -> None:
    """Index the chunks of one row under other terms; their numbers and vectors stay."""
    standing = [row[0] for row in tx.rows(_OF, {"source": source.value, "source_number": number})]
    tx.text.remove(standing)
    tx.text.add(zip(standing, terms, strict=True))


def spans(tx: Tx, source: SourceKind, number: int) -> list[Row]:
    """Return the start and end of each chunk of one row, in order."""
    return tx.rows(_SPANS, {"source": source.value, "source_number": number})


def remove(tx: Tx, source: SourceKind, number: int) -> None:
    """Remove one row from the index; calling it again changes nothing."""
    gone = [row[0] for row in tx.rows(_REMOVE, {"source": source.value, "source_number": number})]
    tx.text.remove(gone)
    vectors.remove(tx, gone)


def clear(tx: Tx) -> None:
    """Delete the whole index."""
    gone = [row[0] for row in tx.rows(_CLEAR, {})]
    tx.text.remove(gone)
    vectors.remove(tx, gone)


def after(tx: Tx, number: int, limit: int) -> list[Row]:
    """Return the chunks after a number, each with its own part of the text, speaker and session."""
    texts: dict[tuple[str, int], Row] = {}
    found: list[Row] = []
    for row in tx.rows(_AFTER, {"after": number, "limit": limit}):
        content, said, speaker, session_id, position, noted, headings, role = row[1:9]
        whole = texts.setdefault(row[9:11], (content, said, noted))
        memory, turn, note = (None if text is None else text[row[11] : row[12]] for text in whole)
        found.append((row[0], memory, turn, role if speaker is None else speaker, session_id, position, note, headings))
    return found


def last(tx: Tx) -> int:
    """Return the highest chunk number; 0 when there is none."""
    return tx.rows(_LAST, {})[0][0]


def judge(tx: Tx, features: Iterable[tuple[int, int, bool, float]]) -> None:
    """Store the ranking features of chunks: number, told, own and echo of each."""
    rows = ((number, told, int(own), echo) for number, told, own, echo in features)
    typed = {"number": "BIGINT", "told": "BIGINT", "own": "BIGINT", "echo": "DOUBLE PRECISION"}
    for listed, params in values_of(("number", "told", "own", "echo"), rows, typed):
        tx.run(_JUDGE.format(rows=listed), params)


def count(tx: Tx) -> int:
    """Return the number of chunks."""
    return tx.rows(_COUNT, {})[0][0]


def drift(
    tx: Tx, waiting_messages: tuple[int, int] = (0, -1), waiting_memories: tuple[int, int] = (0, -1)
) -> tuple[int, int]:
    """Return how many rows have no chunk, and how many chunks have no row; rows between these numbers may wait."""
    params = {
        "first_message": waiting_messages[0],
        "last_message": waiting_messages[1],
        "first_memory": waiting_memories[0],
        "last_memory": waiting_memories[1],
    }
    return tx.rows(_MISSING, params)[0][0], tx.rows(_STRAY, {})[0][0]
