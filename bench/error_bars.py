"""Error bars of a mean over questions, by a bootstrap over vaults.

The questions of one vault share its people and its texts, so whole vaults are drawn again and not questions. A set that
is one vault leaves only its questions to draw, which says nothing about other vaults.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

_ROUNDS = 2_000
_SEED = 13
_INTERVAL = (2.5, 97.5)


class ErrorBar(NamedTuple):
    """A mean with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of the width of the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.mean:.3f} ±{self.half:.3f}".replace("±0.", "±.")


def error_bar(values: Iterable[tuple[str, float]]) -> ErrorBar:
    """Return the mean of the values, and its interval; each value comes with the vault of its question."""
    vaults: dict[str, list[float]] = {}
    for vault, value in values:
        vaults.setdefault(vault, []).append(value)
    drawn = list(vaults.values())
    if len(drawn) == 1:
        drawn = [[value] for value in drawn[0]]
    sums, counts = np.array([sum(one) for one in drawn]), np.array([len(one) for one in drawn])
    places = np.random.default_rng(_SEED).integers(len(drawn), size=(_ROUNDS, len(drawn)))
    means = sums[places].sum(1) / counts[places].sum(1)
    low, high = np.percentile(means, _INTERVAL)
    return ErrorBar(float(sums.sum() / counts.sum()), float(low), float(high))
