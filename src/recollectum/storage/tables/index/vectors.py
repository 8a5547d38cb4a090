"""Reads and writes the vectors table: one quantised vector (signed bytes) per chunk and generation."""

import json
from collections.abc import Iterable

from recollectum.storage.port import Row, Tx
from recollectum.storage.row_lists import values_of
from recollectum.storage.tables.index import generations

_ADD = "INSERT INTO vectors (generation, chunk, data) VALUES {rows} ON CONFLICT DO NOTHING"
_AFTER = """
    SELECT chunk, data FROM vectors WHERE generation = :generation AND chunk > :after ORDER BY chunk LIMIT :limit
"""
_LAST = "SELECT max(chunk) FROM vectors WHERE generation = :generation"
_REMOVE = "DELETE FROM vectors WHERE generation = :generation AND chunk IN (SELECT value FROM numbers(:chunks))"
_COUNT = "SELECT count(*) FROM vectors WHERE generation = :generation"

#: The most that a LIMIT may be.
_ALL = 2**63 - 1


def add(tx: Tx, generation: int, entries: Iterable[tuple[int, bytes]]) -> None:
    """Keep vectors; one that is there already stays as it is."""
    rows = ((generation, chunk, data) for chunk, data in entries)
    for listed, params in values_of(("generation", "chunk", "data"), rows):
        tx.run(_ADD.format(rows=listed), params)


def after(tx: Tx, generation: int, chunk: int, limit: int = _ALL) -> list[Row]:
    """The chunk numbers and vectors that follow a number, in order; all of them without a limit."""
    return tx.rows(_AFTER, {"generation": generation, "after": chunk, "limit": limit})


def last(tx: Tx, generation: int) -> int:
    """The highest chunk number that has a vector, or 0."""
    return tx.rows(_LAST, {"generation": generation})[0][0] or 0


def remove(tx: Tx, chunks: Iterable[int]) -> None:
    """Take chunks out of every generation."""
    numbers = json.dumps(list(chunks))
    for generation in generations.everything(tx):
        removed = tx.run(_REMOVE, {"generation": generation.id, "chunks": numbers})
        if removed:
            generations.count_removed(tx, generation.id, removed)


def count(tx: Tx, generation: int) -> int:
    """How many vectors a generation has."""
    return tx.rows(_COUNT, {"generation": generation})[0][0]
