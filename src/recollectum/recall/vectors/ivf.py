"""Builds and reads an IVF index: k-means cells over the vectors of one generation, built in small steps."""

from typing import TYPE_CHECKING, Final

from recollectum.domain.records import dataclass
from recollectum.storage.port import Database, Row, Tx
from recollectum.storage.tables.index import coarse, vectors
from recollectum.storage.tables.index.coarse import IvfProgress
from recollectum.storage.tables.index.generations import Generation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int64]

#: The number of k-means rounds.
KMEANS_ROUNDS: Final = 8
#: Vectors assigned to cells in one step.
ASSIGN_BATCH: Final = 4096
#: Vectors sampled for each centroid. A centroid of fewer than the least would represent a single vector.
_SAMPLE_PER_CENTROID: Final = 20
_MIN_CELL_SIZE: Final = 4
#: Consecutive vectors taken from one place of the vault.
_SAMPLE_RUN: Final = 8
#: The index is rebuilt when there are this many times the vectors it was built for.
_REBUILD_FACTOR: Final = 4


@dataclass(frozen=True, slots=True)
class IvfStatus:
    """The state of an IVF index."""

    #: Nearly every vector is in a cell.
    usable: bool
    #: There is work left.
    wanting: bool


def ivf_status(tx: Tx, generation: Generation, size: int) -> IvfStatus:
    """Return the state of the IVF index of a generation with `size` vectors."""
    layer = coarse.find(tx, generation.id)
    if layer is None or layer.rounds < KMEANS_ROUNDS:
        return IvfStatus(usable=False, wanting=True)
    late = generation.done - layer.done
    usable = late * 8 <= size
    return IvfStatus(usable=usable, wanting=late >= ASSIGN_BATCH or not usable or _is_outgrown(layer, size))


def expected_size(tx: Tx, generation: Generation) -> int:
    """Return the number of vectors that a usable IVF index of a generation was built for; 0 without one."""
    layer = coarse.find(tx, generation.id)
    return layer.size if layer and ivf_status(tx, generation, layer.size).usable else 0


def build_step(database: Database, generation: Generation, *, size: int, dimensions: int) -> bool:
    """Run the next build step of the IVF index of a generation with `size` vectors; return False when it is done."""
    layer = database.read(lambda tx: coarse.find(tx, generation.id))
    if layer is None:
        return _seed_centroids(database, generation, size, dimensions)
    if _is_outgrown(layer, size):
        database.write(lambda tx: coarse.drop(tx, layer))
        return True
    if layer.rounds < KMEANS_ROUNDS:
        return _refine_centroids(database, generation, layer, dimensions)
    return _assign_cells(database, generation, layer, dimensions)


def _is_outgrown(layer: IvfProgress, size: int) -> bool:
    return size > layer.size * _REBUILD_FACTOR


def _seed_centroids(database: Database, generation: Generation, size: int, dimensions: int) -> bool:
    import numpy as np  # noqa: PLC0415 - heavy, and only where there are vectors

    lists = _cell_count(size)
    sample = database.read(lambda tx: _load_sample(tx, generation.id, lists * _SAMPLE_PER_CENTROID, dimensions))
    if not len(sample):
        return False
    seeds = np.random.default_rng(generation.id).choice(len(sample), min(lists, len(sample)), replace=False)
    middles = _kmeans_round(sample, sample[np.sort(seeds)])
    if not len(middles):
        return False
    database.write(lambda tx: coarse.begin(tx, generation.id, size, middles.tobytes()))
    return True


def _refine_centroids(database: Database, generation: Generation, layer: IvfProgress, dimensions: int) -> bool:
    import numpy as np  # noqa: PLC0415

    kept = database.read(lambda tx: coarse.centroids(tx, layer))
    sample = database.read(
        lambda tx: _load_sample(tx, generation.id, _cell_count(layer.size) * _SAMPLE_PER_CENTROID, dimensions)
    )
    if not len(sample) or not kept or len(kept) % (4 * dimensions):
        return False
    middles = _kmeans_round(sample, np.frombuffer(kept, np.float32).reshape(-1, dimensions))
    if not len(middles):
        return False
    database.write(lambda tx: coarse.move(tx, layer, middles.tobytes()))
    return True


def _assign_cells(database: Database, generation: Generation, layer: IvfProgress, dimensions: int) -> bool:
    import numpy as np  # noqa: PLC0415

    page, kept = database.read(
        lambda tx: (vectors.after(tx, generation.id, layer.done, ASSIGN_BATCH), coarse.centroids(tx, layer))
    )
    full = len(page) == ASSIGN_BATCH
    done = page[-1][0] if full else max(generation.done, page[-1][0] if page else 0)
    if done <= layer.done or not kept or len(kept) % (4 * dimensions):
        return False
    numbers, rows = _valid_vectors(page, dimensions)
    entries: list[tuple[int, int]] = []
    if numbers:
        middles = np.frombuffer(kept, np.float32).reshape(-1, dimensions)
        entries = list(zip(numbers, _nearest_centroids(rows, middles).tolist(), strict=True))
    database.write(lambda tx: coarse.assign(tx, generation.id, layer, entries, done))
    return full


def _cell_count(size: int) -> int:
    """Return the number of cells for a number of vectors."""
    return max(1, 3 * round(size**0.5))


def _load_sample(tx: Tx, generation: int, most: int, dimensions: int) -> "Floats":
    """Return a sample of vectors from all over a generation; it is the same until the generation changes."""
    last, taken = vectors.last(tx, generation), 0
    rows: list[Row] = []
    places = max(1, most // _SAMPLE_RUN)
    for place in range(places):
        run = vectors.after(tx, generation, max(taken, last * place // places), _SAMPLE_RUN)
        taken = run[-1][0] if run else taken
        rows += run
    return _valid_vectors(rows, dimensions)[1]


def _valid_vectors(rows: list[Row], dimensions: int) -> "tuple[list[int], Floats]":
    """Return the numbers and vectors of the undamaged rows, from the signed bytes, which are enough for clustering."""
    import numpy as np  # noqa: PLC0415

    good = [(number, data[:dimensions]) for number, data in rows if len(data) >= dimensions]
    whole = np.frombuffer(b"".join(data for _, data in good), np.int8).reshape(-1, dimensions).astype(np.float32)
    lengths = np.maximum(np.linalg.norm(whole, axis=1, keepdims=True), 1)
    return [number for number, _ in good], whole / lengths


def _nearest_centroids(rows: "Floats", middles: "Floats") -> "NDArray[np.int64]":
    """Return the nearest centroid of each row."""
    import numpy as np  # noqa: PLC0415

    blocks = [(rows[at : at + ASSIGN_BATCH] @ middles.T).argmax(axis=1) for at in range(0, len(rows), ASSIGN_BATCH)]
    return np.concatenate(blocks)


def _kmeans_round(sample: "Floats", middles: "Floats") -> "Floats":
    """Move each centroid to the mean of its nearest vectors; drop a centroid with too few."""
    import numpy as np  # noqa: PLC0415

    nearest = _nearest_centroids(sample, middles)
    counts = np.bincount(nearest, minlength=len(middles))
    used = np.flatnonzero(counts)
    starts = (np.cumsum(counts) - counts)[used]
    sums = np.add.reduceat(sample[np.argsort(nearest, kind="stable")], starts, axis=0)
    sums = sums[counts[used] >= min(_MIN_CELL_SIZE, len(sample))]
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)


_PAGE = 16_384


@dataclass(frozen=True, slots=True)
class IvfCells:
    """The layout of the rows, cell by cell from the first place; rows without a cell follow."""

    middles: "NDArray[np.float32]"
    #: The start of each cell, and the end of the last one.
    starts: "Places"
    #: All chunk numbers with a cell, in order, and the place of each.
    numbers: "Places"
    places: "NDArray[np.int32]"

    @property
    def held_bytes(self) -> int:
        """Return the memory in bytes."""
        return sum(one.nbytes for one in (self.middles, self.starts, self.numbers, self.places))

    @property
    def grouped(self) -> int:
        """Return the number of rows in cells."""
        return len(self.numbers)

    def place(self, numbers: "Places") -> "Places":
        """Return the place of each chunk; -1 for one without a cell."""
        return find_places(self.numbers, self.places, numbers)

    def spans(self, query: "NDArray[np.float32]", least: int) -> list[tuple[int, int]]:
        """Return the row spans of the cells nearest to a query, with at least `least` rows if there are as many."""
        import numpy as np  # noqa: PLC0415 - the caller has it already

        nearest = np.argsort(-np.einsum("ij,j->i", self.middles, query), kind="stable")
        sizes = np.diff(self.starts)[nearest].cumsum()
        chosen = np.sort(nearest[: int(np.searchsorted(sizes, least)) + 1])
        # Read adjacent cells as one span.
        breaks = np.flatnonzero(np.diff(chosen) > 1)
        first = chosen[np.concatenate([[0], breaks + 1])]
        last = chosen[np.concatenate([breaks, [len(chosen) - 1]])]
        return list(zip(self.starts[first].tolist(), self.starts[last + 1].tolist(), strict=True))


def find_places(known: "Places", places: "NDArray[np.int32] | None", numbers: "Places") -> "Places":
    """Return the place of each number among the known ones, which are sorted; -1 for a missing one."""
    import numpy as np  # noqa: PLC0415

    if not len(known):
        return np.full(len(numbers), -1, np.int64)
    if places is None and known[-1] - known[0] == len(known) - 1:
        # No number is missing, so that each number gives its place; a search would read memory that is not in the
        # cache.
        at = numbers - known[0]
        return np.where((at >= 0) & (at < len(known)), at, -1)
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[at] == numbers, at if places is None else places[at], -1)


def load_cells(tx: Tx, generation: int, dimensions: int) -> IvfCells | None:
    """Return the stored cells of a generation; None when they are damaged or missing."""
    import numpy as np  # noqa: PLC0415

    layer = coarse.find(tx, generation)
    kept = coarse.centroids(tx, layer) if layer else b""
    if not kept or len(kept) % (4 * dimensions):
        return None
    middles = np.frombuffer(kept, np.float32).reshape(-1, dimensions)
    pages: list[NDArray[np.int64]] = []
    last = 0
    while rows := coarse.cells(tx, generation, last, _PAGE):
        last = rows[-1][0]
        pages.append(np.array(rows, np.int64))
    found = np.concatenate(pages) if pages else np.zeros((0, 2), np.int64)
    found = found[(found[:, 1] >= 0) & (found[:, 1] < len(middles))]
    order = np.argsort(found[:, 1], kind="stable")
    places = np.empty(len(found), np.int32)
    places[order] = np.arange(len(found), dtype=np.int32)
    starts = np.concatenate([[0], np.bincount(found[:, 1], minlength=len(middles)).cumsum()])
    return IvfCells(middles, starts, found[:, 0].copy(), places)
