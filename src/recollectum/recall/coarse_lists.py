"""The lists of a coarse layer in memory: where the rows of each lie, and which ones a question looks at."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollectum.storage.port import Tx
from recollectum.storage.tables import coarse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int64]

_PAGE = 16_384


@dataclass(frozen=True, slots=True)
class Lists:
    """Rows laid out list by list, from the first place on; what has no list lies behind them."""

    middles: "NDArray[np.float32]"
    #: Where each list begins, and behind the last one where it ends.
    starts: "Places"
    #: All chunk numbers that have a list, in order, and the place of each.
    numbers: "Places"
    places: "NDArray[np.int32]"

    @property
    def grouped(self) -> int:
        """How many rows have a list."""
        return len(self.numbers)

    def place(self, numbers: "Places") -> "Places":
        """Where each chunk lies; -1 for one that has no list."""
        return looked_up(self.numbers, self.places, numbers)

    def spans(self, query: "NDArray[np.float32]", least: int) -> list[tuple[int, int]]:
        """The rows of the lists nearest to a query, at least so many where there are as many."""
        import numpy as np  # noqa: PLC0415 - the caller has it already

        nearest = np.argsort(-np.einsum("ij,j->i", self.middles, query), kind="stable")
        sizes = np.diff(self.starts)[nearest].cumsum()
        chosen = np.sort(nearest[: int(np.searchsorted(sizes, least)) + 1])
        # Lists that lie side by side are read in one go.
        breaks = np.flatnonzero(np.diff(chosen) > 1)
        first = chosen[np.concatenate([[0], breaks + 1])]
        last = chosen[np.concatenate([breaks, [len(chosen) - 1]])]
        return list(zip(self.starts[first].tolist(), self.starts[last + 1].tolist(), strict=True))


def looked_up(known: "Places", places: "NDArray[np.int32] | None", numbers: "Places") -> "Places":
    """The place of each number among the known ones, which are in order; -1 for one that is not there."""
    import numpy as np  # noqa: PLC0415

    if not len(known):
        return np.full(len(numbers), -1, np.int64)
    if places is None and known[-1] - known[0] == len(known) - 1:
        # None is missing, so that each number says its place; to search would go through memory that is long cold.
        at = numbers - known[0]
        return np.where((at >= 0) & (at < len(known)), at, -1)
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[at] == numbers, at if places is None else places[at], -1)


def load(tx: Tx, generation: int, dimensions: int) -> Lists | None:
    """The lists of a generation as the vault has them; None when they are damaged or not there."""
    import numpy as np  # noqa: PLC0415

    layer = coarse.find(tx, generation)
    kept = coarse.middles(tx, layer) if layer else b""
    if not kept or len(kept) % (4 * dimensions):
        return None
    middles = np.frombuffer(kept, np.float32).reshape(-1, dimensions)
    pages: list[NDArray[np.int64]] = []
    last = 0
    while rows := coarse.lists(tx, generation, last, _PAGE):
        last = rows[-1][0]
        pages.append(np.array(rows, np.int64))
    found = np.concatenate(pages) if pages else np.zeros((0, 2), np.int64)
    found = found[(found[:, 1] >= 0) & (found[:, 1] < len(middles))]
    order = np.argsort(found[:, 1], kind="stable")
    places = np.empty(len(found), np.int32)
    places[order] = np.arange(len(found), dtype=np.int32)
    starts = np.concatenate([[0], np.bincount(found[:, 1], minlength=len(middles)).cumsum()])
    return Lists(middles, starts, found[:, 0].copy(), places)
