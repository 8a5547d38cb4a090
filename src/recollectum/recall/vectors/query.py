"""Compares a question with all vectors of a vault, with Rocchio pseudo-relevance feedback."""

from collections.abc import Callable, Set
from typing import TYPE_CHECKING

from recollectum.recall.vectors.matrix import VectorMatrix
from recollectum.recall.vectors.scan import ScanResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The query vector moves by this share towards the mean of its first results, which say it in other words.
FEEDBACK_WEIGHT = 0.15
_FEEDBACK_CHUNKS = 3
#: And towards written texts that words and vectors together put first, by this share.
WRITTEN_FEEDBACK_WEIGHT = 0.3


class VectorQuery:
    """The similarity of every chunk to one question."""

    def __init__(
        self,
        matrix: VectorMatrix,
        question: "NDArray[np.float32]",
        standing: Callable[[list[int]], Set[int]] | None = None,
        *,
        model: str = "",
    ) -> None:
        #: The identity of the embedder, as one text.
        self.model = model
        #: How many of the rows below were deleted since; which ones is not known.
        self.stale = matrix.stale
        first = matrix.near(question)
        if standing and self.stale:
            first = first.without_gone(standing)
        self._asked: ScanResult = first
        if len(first.first.places) > _FEEDBACK_CHUNKS:
            # Such a short move changes the order of the nearest rows, but hardly which ones they are: one scan serves
            # both.
            first = first.moved((question + FEEDBACK_WEIGHT * first.middle(_FEEDBACK_CHUNKS)).astype(question.dtype))
        self._nearness: ScanResult = first
        #: The known cosines, by chunk number.
        self._cosines: dict[int, float | None] = {}

    def best(self, most: int, within: set[int] | None) -> list[int]:
        """Return the numbers of the nearest allowed chunks, nearest first."""
        found = self._nearness.ranked(most, within)
        self._cosines.update(found)
        return list(found)

    def cosines(self, numbers: list[int]) -> dict[int, float]:
        """Return the cosine of each chunk that has a vector."""
        known = self._cosines
        if unknown := [number for number in numbers if number not in known]:
            known.update(zip(unknown, self._nearness.of(unknown), strict=True))
        return {number: cosine for number in numbers if (cosine := known[number]) is not None}

    def cosines_towards(self, leading: list[int], numbers: list[int]) -> dict[int, float]:
        """Return the cosines with the question as it was asked, moved towards some chunks; nothing without them."""
        middle = self._asked.block.middle(leading)
        if middle is None:
            return {}
        asked = self._asked.query
        moved = self._asked.moved((asked + WRITTEN_FEEDBACK_WEIGHT * middle).astype(asked.dtype))
        found = zip(numbers, moved.of(numbers), strict=True)
        return {number: cosine for number, cosine in found if cosine is not None}

    def background(self) -> tuple[float, float]:
        """Return mean and standard deviation of the cosines of all chunks with the question as it was asked."""
        return self._asked.background()

    def highest(self, numbers: list[int]) -> float:
        """Return the highest cosine of some chunks with the question as it was asked; 0 when none has a vector."""
        return max((cosine for cosine in self._asked.of(numbers) if cosine is not None), default=0.0)
