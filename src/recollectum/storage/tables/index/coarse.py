"""Reads and writes the IVF tables: the centroids of a generation and the cell of each vector."""

from collections.abc import Iterable
from dataclasses import dataclass

from recollectum.storage.port import Row, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class IvfProgress:
    """The build progress of a generation's IVF index."""

    id: int
    #: The number of vectors when the build began.
    size: int
    rounds: int
    #: Every vector up to this chunk is assigned to a cell.
    done: int


_BEGIN = """
    INSERT INTO coarse (generation, size)
    SELECT id, :size FROM generations WHERE id = :generation ON CONFLICT DO NOTHING
    RETURNING id
"""
_FIND = "SELECT id, size, rounds, done FROM coarse WHERE generation = :generation"
_KEEP = "INSERT INTO coarse_middles (coarse, middles) VALUES (:id, :middles)"
_CENTROIDS = "SELECT middles FROM coarse_middles WHERE coarse = :id"
# Two processes may build at once: the second finds its step done, and changes nothing.
_ROUND = "UPDATE coarse SET rounds = :rounds + 1 WHERE id = :id AND rounds = :rounds"
_MOVE = "UPDATE coarse_middles SET middles = :middles WHERE coarse = :id"
_ADVANCE = "UPDATE coarse SET done = :done WHERE id = :id AND done = :before"
_ASSIGN = """
    INSERT INTO coarse_lists (generation, chunk, list)
    SELECT generation, chunk, :list FROM vectors WHERE generation = :generation AND chunk = :chunk
"""
_CELLS = """
    SELECT chunk, list FROM coarse_lists WHERE generation = :generation AND chunk > :after ORDER BY chunk LIMIT :limit
"""
_DROP = "DELETE FROM coarse WHERE id = :id"


def begin(tx: Tx, generation: int, size: int, middles: bytes) -> None:
    """Begin the IVF index of a generation that has none."""
    for row in tx.rows(_BEGIN, {"generation": generation, "size": size}):
        tx.run(_KEEP, {"id": row[0], "middles": middles})


def find(tx: Tx, generation: int) -> IvfProgress | None:
    """Return the IVF index of a generation, or None."""
    rows = tx.rows(_FIND, {"generation": generation})
    return IvfProgress(id=rows[0][0], size=rows[0][1], rounds=rows[0][2], done=rows[0][3]) if rows else None


def centroids(tx: Tx, layer: IvfProgress) -> bytes:
    """Return the centroid of each cell."""
    rows = tx.rows(_CENTROIDS, {"id": layer.id})
    return rows[0][0] if rows else b""


def move(tx: Tx, layer: IvfProgress, middles: bytes) -> None:
    """Store new centroids, unless another process did so already."""
    if tx.run(_ROUND, {"id": layer.id, "rounds": layer.rounds}):
        tx.run(_MOVE, {"id": layer.id, "middles": middles})


def assign(tx: Tx, generation: int, layer: IvfProgress, entries: Iterable[tuple[int, int]], done: int) -> None:
    """Assign chunks to cells, unless another process did so already; a chunk without a vector gets no cell."""
    if not tx.run(_ADVANCE, {"id": layer.id, "before": layer.done, "done": done}):
        return
    for chunk, number in entries:
        tx.run(_ASSIGN, {"generation": generation, "chunk": chunk, "list": number})


def cells(tx: Tx, generation: int, after: int, limit: int) -> list[Row]:
    """Return the next chunk numbers and their cells, in order."""
    return tx.rows(_CELLS, {"generation": generation, "after": after, "limit": limit})


def drop(tx: Tx, layer: IvfProgress) -> None:
    """Delete an IVF index and its cells."""
    tx.run(_DROP, {"id": layer.id})
