"""Compares a question with all vectors of a vault, with Rocchio pseudo-relevance feedback."""

from collections.abc import Callable, Set
from typing import TYPE_CHECKING

from recollectum.recall.vectors.matrix import ScanResult, VectorMatrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The question is moved by this share towards the middle of its first results, which say it in other words.
FEEDBACK_WEIGHT = 0.15
_FEEDBACK_CHUNKS = 3


class VectorQuery:
    """How near every chunk is to one question."""

    def __init__(
        self,
        matrix: VectorMatrix,
        question: "NDArray[np.float32]",
        standing: Callable[[list[int]], Set[int]] | None = None,
    ) -> None:
        #: How many of the rows below were taken out since; which ones is not known.
        self.stale = matrix.stale
        first = matrix.near(question)
        if standing and self.stale:
            first = first.without_gone(standing)
        if len(first.first.places) > _FEEDBACK_CHUNKS:
            # So short a move changes the order among the nearest, not which ones they are: one scan does for both.
            first = first.moved((question + FEEDBACK_WEIGHT * first.middle(_FEEDBACK_CHUNKS)).astype(question.dtype))
        self._nearness: ScanResult = first
        #: What is known by now, by number.
        self._cosines: dict[int, float | None] = {}

    def best(self, most: int, within: set[int] | None) -> list[int]:
        """The numbers of the nearest chunks, nearest first, among those that are allowed."""
        found = self._nearness.ranked(most, within)
        self._cosines.update(found)
        return list(found)

    def cosines(self, numbers: list[int]) -> dict[int, float]:
        """The cosine of each chunk that has a vector."""
        known = self._cosines
        if unknown := [number for number in numbers if number not in known]:
            known.update(zip(unknown, self._nearness.of(unknown), strict=True))
        return {number: cosine for number in numbers if (cosine := known[number]) is not None}
