"""Reads and writes the IVF tables: the centroids of a generation and the cell of each vector."""

from collections.abc import Iterable

from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class IvfProgress:
    """The build progress of a generation's IVF index."""

    generation: int
    #: Which IVF index of the generation this is: each new one gets the next number.
    number: int
    #: The number of vectors when the build began.
    size: int
    rounds: int
    #: Every vector up to this chunk is assigned to a cell.
    done: int


_BEGIN = """
    UPDATE generations SET coarse = coarse + 1, coarse_size = :size, coarse_rounds = 0, coarse_done = 0
     WHERE id = :generation AND coarse_size IS NULL
"""
_FIND = """
    SELECT id, coarse, coarse_size, coarse_rounds, coarse_done FROM generations
     WHERE id = :generation AND coarse_size IS NOT NULL
"""
_KEEP = "INSERT INTO coarse_middles (generation, middles) VALUES (:generation, :middles)"
_CENTROIDS = """
    SELECT coarse_middles.middles FROM generations JOIN coarse_middles ON coarse_middles.generation = generations.id
     WHERE generations.id = :generation AND generations.coarse = :number
"""
# Two processes may build at once: the second finds its step done, and changes nothing.
_ROUND = """
    UPDATE generations SET coarse_rounds = :rounds + 1
     WHERE id = :generation AND coarse = :number AND coarse_size IS NOT NULL AND coarse_rounds = :rounds
"""
_MOVE = "UPDATE coarse_middles SET middles = :middles WHERE generation = :generation"
_ADVANCE = """
    UPDATE generations SET coarse_done = :done
     WHERE id = :generation AND coarse = :number AND coarse_size IS NOT NULL AND coarse_done = :before
"""
_ASSIGN = """
    INSERT INTO coarse_lists (generation, chunk, list)
    SELECT generation, chunk, :list FROM vectors WHERE generation = :generation AND chunk = :chunk
"""
_CELLS = """
    SELECT chunk, list FROM coarse_lists WHERE generation = :generation AND chunk > :after ORDER BY chunk LIMIT :limit
"""
_DROP = """
    UPDATE generations SET coarse_size = NULL
     WHERE id = :generation AND coarse = :number AND coarse_size IS NOT NULL
"""
_DROP_CENTROIDS = "DELETE FROM coarse_middles WHERE generation = :generation"
_DROP_CELLS = "DELETE FROM coarse_lists WHERE generation = :generation"
_ALL = "SELECT id, coarse, coarse_size, coarse_rounds, coarse_done FROM generations WHERE coarse_size IS NOT NULL"


def begin(tx: Tx, generation: int, size: int, middles: bytes) -> None:
    """Begin the IVF index of a generation that has none."""
    if tx.run(_BEGIN, {"generation": generation, "size": size}):
        tx.run(_KEEP, {"generation": generation, "middles": middles})


def find(tx: Tx, generation: int) -> IvfProgress | None:
    """Return the IVF index of a generation, or None."""
    rows = tx.rows(_FIND, {"generation": generation})
    return _from_row(rows[0]) if rows else None


def centroids(tx: Tx, layer: IvfProgress) -> bytes:
    """Return the centroid of each cell."""
    rows = tx.rows(_CENTROIDS, _place(layer))
    return rows[0][0] if rows else b""


def move(tx: Tx, layer: IvfProgress, middles: bytes) -> None:
    """Store new centroids, unless another process did so already."""
    if tx.run(_ROUND, {**_place(layer), "rounds": layer.rounds}):
        tx.run(_MOVE, {"generation": layer.generation, "middles": middles})


def assign(tx: Tx, generation: int, layer: IvfProgress, entries: Iterable[tuple[int, int]], done: int) -> None:
    """Assign chunks to cells, unless another process did so already; a chunk without a vector gets no cell."""
    if not tx.run(_ADVANCE, {**_place(layer), "before": layer.done, "done": done}):
        return
    for chunk, number in entries:
        tx.run(_ASSIGN, {"generation": generation, "chunk": chunk, "list": number})


def cells(tx: Tx, generation: int, after: int, limit: int) -> list[Row]:
    """Return the next chunk numbers and their cells, in order."""
    return tx.rows(_CELLS, {"generation": generation, "after": after, "limit": limit})


def drop(tx: Tx, layer: IvfProgress) -> None:
    """Delete an IVF index and its cells, unless another process did so already."""
    if tx.run(_DROP, _place(layer)):
        for sql in (_DROP_CENTROIDS, _DROP_CELLS):
            tx.run(sql, {"generation": layer.generation})


def drop_all(tx: Tx) -> None:
    """Delete the IVF index of every generation."""
    for row in tx.rows(_ALL, {}):
        drop(tx, _from_row(row))


def _place(layer: IvfProgress) -> dict[str, int]:
    return {"generation": layer.generation, "number": layer.number}


def _from_row(row: Row) -> IvfProgress:
    return IvfProgress(generation=row[0], number=row[1], size=row[2], rounds=row[3], done=row[4])
