"""The coarse layer over many vectors: lists of those that lie together, made in short steps behind the answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from recollectum.storage.port import Database, Row, Tx
from recollectum.storage.tables import coarse, vectors
from recollectum.storage.tables.coarse import Coarse
from recollectum.storage.tables.generations import Generation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: How often the middles are moved before they are taken as they are.
ROUNDS: Final = 8
#: Vectors that are given their list in one step.
STEP: Final = 4096
#: Vectors that a middle is worked out from; of fewer than the least it would tell what one of them says.
_SAMPLE: Final = 20
_LEAST: Final = 4
#: Vectors taken from one place of the vault.
_RUN: Final = 8
#: With so many times the vectors it was made for, the layer is made again.
_OUTGROWN: Final = 4


@dataclass(frozen=True, slots=True)
class Standing:
    """What a coarse layer is good for at the moment."""

    #: Nearly every vector has its list.
    usable: bool
    #: There is something left to do.
    wanting: bool


def standing(tx: Tx, generation: Generation, size: int) -> Standing:
    """How far the coarse layer of a generation of so many vectors has come."""
    layer = coarse.find(tx, generation.id)
    if layer is None or layer.rounds < ROUNDS:
        return Standing(usable=False, wanting=True)
    late = generation.done - layer.done
    usable = late * 8 <= size
    return Standing(usable=usable, wanting=late >= STEP or not usable or _outgrown(layer, size))


def step(database: Database, generation: Generation, *, size: int, dimensions: int) -> bool:
    """Do the next piece of work on the coarse layer of a generation of so many vectors; False when nothing is left."""
    layer = database.read(lambda tx: coarse.find(tx, generation.id))
    if layer is None:
        return _begin(database, generation, size, dimensions)
    if _outgrown(layer, size):
        database.write(lambda tx: coarse.drop(tx, layer))
        return True
    if layer.rounds < ROUNDS:
        return _improve(database, generation, layer, dimensions)
    return _assign(database, generation, layer, dimensions)


def _outgrown(layer: Coarse, size: int) -> bool:
    return size > layer.size * _OUTGROWN


def _begin(database: Database, generation: Generation, size: int, dimensions: int) -> bool:
    import numpy as np  # noqa: PLC0415 - heavy, and only where there are vectors

    lists = _lists(size)
    sample = database.read(lambda tx: _sample(tx, generation.id, lists * _SAMPLE, dimensions))
    if not len(sample):
        return False
    seeds = np.random.default_rng(generation.id).choice(len(sample), min(lists, len(sample)), replace=False)
    middles = _moved(sample, sample[np.sort(seeds)])
    if not len(middles):
        return False
    database.write(lambda tx: coarse.begin(tx, generation.id, size, middles.tobytes()))
    return True


def _improve(database: Database, generation: Generation, layer: Coarse, dimensions: int) -> bool:
    import numpy as np  # noqa: PLC0415

    kept = database.read(lambda tx: coarse.middles(tx, layer))
    sample = database.read(lambda tx: _sample(tx, generation.id, _lists(layer.size) * _SAMPLE, dimensions))
    if not len(sample) or not kept or len(kept) % (4 * dimensions):
        return False
    middles = _moved(sample, np.frombuffer(kept, np.float32).reshape(-1, dimensions))
    if not len(middles):
        return False
    database.write(lambda tx: coarse.move(tx, layer, middles.tobytes()))
    return True


def _assign(database: Database, generation: Generation, layer: Coarse, dimensions: int) -> bool:
    import numpy as np  # noqa: PLC0415

    page, kept = database.read(
        lambda tx: (vectors.after(tx, generation.id, layer.done, STEP), coarse.middles(tx, layer))
    )
    full = len(page) == STEP
    done = page[-1][0] if full else max(generation.done, page[-1][0] if page else 0)
    if done <= layer.done or not kept or len(kept) % (4 * dimensions):
        return False
    numbers, rows = _readable(page, dimensions)
    entries: list[tuple[int, int]] = []
    if numbers:
        middles = np.frombuffer(kept, np.float32).reshape(-1, dimensions)
        entries = list(zip(numbers, _nearest(rows, middles).tolist(), strict=True))
    database.write(lambda tx: coarse.assign(tx, generation.id, layer, entries, done))
    return full


def _lists(size: int) -> int:
    """How many lists so many vectors are put in."""
    return max(1, 3 * round(size**0.5))


def _sample(tx: Tx, generation: int, most: int, dimensions: int) -> "Floats":
    """Vectors from all over a generation, the same ones each time as long as it does not change."""
    last, taken = vectors.last(tx, generation), 0
    rows: list[Row] = []
    places = max(1, most // _RUN)
    for place in range(places):
        run = vectors.after(tx, generation, max(taken, last * place // places), _RUN)
        taken = run[-1][0] if run else taken
        rows += run
    return _readable(rows, dimensions)[1]


def _readable(rows: list[Row], dimensions: int) -> "tuple[list[int], Floats]":
    """The numbers and vectors of the rows that are not damaged; to tell what lies together, whole bytes will do."""
    import numpy as np  # noqa: PLC0415

    good = [(number, data[:dimensions]) for number, data in rows if len(data) >= dimensions]
    whole = np.frombuffer(b"".join(data for _, data in good), np.int8).reshape(-1, dimensions).astype(np.float32)
    lengths = np.maximum(np.linalg.norm(whole, axis=1, keepdims=True), 1)
    return [number for number, _ in good], whole / lengths


def _nearest(rows: "Floats", middles: "Floats") -> "NDArray[np.int64]":
    """For each row the middle it is nearest to."""
    import numpy as np  # noqa: PLC0415

    blocks = [(rows[at : at + STEP] @ middles.T).argmax(axis=1) for at in range(0, len(rows), STEP)]
    return np.concatenate(blocks)


def _moved(sample: "Floats", middles: "Floats") -> "Floats":
    """Each middle moved to the middle of what is nearest to it; one that stands for too few is given up."""
    import numpy as np  # noqa: PLC0415

    nearest = _nearest(sample, middles)
    counts = np.bincount(nearest, minlength=len(middles))
    used = np.flatnonzero(counts)
    starts = (np.cumsum(counts) - counts)[used]
    sums = np.add.reduceat(sample[np.argsort(nearest, kind="stable")], starts, axis=0)
    sums = sums[counts[used] >= min(_LEAST, len(sample))]
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
