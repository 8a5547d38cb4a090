"""Reads and writes the vectors table: one quantised vector (signed bytes) per chunk and generation."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from recollectum.storage.port import Row, Tx
from recollectum.storage.row_lists import values_of
from recollectum.storage.tables.index import generations

_ADD = "INSERT INTO vectors (generation, chunk, data) VALUES {rows} ON CONFLICT DO NOTHING"
_AFTER = """
    SELECT chunk, data FROM vectors WHERE generation = :generation AND chunk > :after ORDER BY chunk LIMIT :limit
"""
# All vectors of a page as one value: to make a Python object of each takes a sixth of the time of a first search.
_JOINED_AFTER = f"""
    SELECT max(length(data)), group_concat(chunk, ','), CAST(group_concat(data, '') AS BLOB)
      FROM ({_AFTER}) AS page
"""  # noqa: S608  (constants of this file)
_LAST = "SELECT max(chunk) FROM vectors WHERE generation = :generation"
_REMOVE = "DELETE FROM vectors WHERE generation = :generation AND chunk IN (SELECT value FROM numbers(:chunks))"
_COUNT = "SELECT count(*) FROM vectors WHERE generation = :generation"

#: The largest value of a LIMIT.
_ALL = 2**63 - 1


def add(tx: Tx, generation: int, entries: Iterable[tuple[int, bytes]]) -> None:
    """Store vectors; existing ones stay as they are."""
    rows = ((generation, chunk, data) for chunk, data in entries)
    for listed, params in values_of(("generation", "chunk", "data"), rows):
        tx.run(_ADD.format(rows=listed), params)


def after(tx: Tx, generation: int, chunk: int, limit: int = _ALL) -> list[Row]:
    """Return the chunk numbers and vectors after a number, in order; without a limit all of them."""
    return tx.rows(_AFTER, {"generation": generation, "after": chunk, "limit": limit})


class JoinedVectors(NamedTuple):
    """Vectors of one length, in the order of their chunks."""

    #: The numbers of the chunks, separated by commas.
    chunks: str
    #: The bytes of one vector.
    size: int
    data: bytes


def joined_after(tx: Tx, generation: int, chunk: int, limit: int) -> JoinedVectors | None:
    """Return the vectors after a number, as `after` does, in one piece.

    Return None if there are none, if they have several lengths, or if each is encrypted for itself.
    """
    if not tx.reads_texts:
        return None
    found = tx.rows(_JOINED_AFTER, {"generation": generation, "after": chunk, "limit": limit})
    longest, numbers, data = found[0]
    # All are as long as the longest if they are together.
    alike = longest and len(data) == longest * (numbers.count(",") + 1)
    return JoinedVectors(numbers, longest, data) if alike else None


def last(tx: Tx, generation: int) -> int:
    """Return the highest chunk number that has a vector, or 0."""
    return tx.rows(_LAST, {"generation": generation})[0][0] or 0


def remove(tx: Tx, chunks: Iterable[int]) -> None:
    """Delete the vectors of chunks from every generation."""
    numbers = json.dumps(list(chunks))
    for generation in generations.everything(tx):
        removed = tx.run(_REMOVE, {"generation": generation.id, "chunks": numbers})
        if removed:
            generations.count_removed(tx, generation.id, removed)


def count(tx: Tx, generation: int) -> int:
    """Return the number of vectors of a generation."""
    return tx.rows(_COUNT, {"generation": generation})[0][0]
