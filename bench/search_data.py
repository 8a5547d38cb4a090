"""Generates the data of a search benchmark: texts with natural word frequencies, and vectors in clusters."""

import random
from collections.abc import Iterator
from itertools import accumulate, product
from typing import TYPE_CHECKING

from bench.search_embedder import DIMENSIONS
from recollectum.recall.vectors.quantisation import quantise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Numbers = NDArray[np.int64]

_BLOCK = 20_000
#: The words that make up half of speech; the rest is invented, and as frequent as English words of the same rank.
_FUNCTION_WORDS = (
    "the i to and a you of it that in is my for on have was with so be this me are we at but not just do like what "
    "your about can they all had from there if would as an or he she will when how been her some out has one them then"
)
_SYLLABLES = [first + second for first, second in product("bdfgklmnprstvz", "aeiou")]
_VOCABULARY = 30_000
_RANK_SHIFT = 2.7
#: The mean and spread of the logarithm of a turn's length: the median is 32 words, the mean about 41.
_LENGTH = (3.47, 0.7)
_LONGEST = 200
_ASKED_WORDS = 9
#: How far the members of a cluster are from its centre, and questions from their targets.
_SPREAD = 0.7
#: Vectors of a language model vary in far fewer directions than they have dimensions.
_INNER = 32
_TO_A_CLUSTER = 100
_MOST_CLUSTERS = 2_000


class Talk:
    """Turns of invented conversations; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        invented = (a + b + c for a, b, c in product(_SYLLABLES, _SYLLABLES, _SYLLABLES))
        chosen = random.Random(0).sample(list(invented), _VOCABULARY)
        self._words = [*_FUNCTION_WORDS.split(), *chosen]
        self._weights = list(accumulate(1 / (rank + _RANK_SHIFT) for rank in range(1, len(self._words) + 1)))

    def turn(self) -> str:
        """Return one turn of natural length."""
        return " ".join(self._draw(min(_LONGEST, 2 + int(self._chance.lognormvariate(*_LENGTH)))))

    def question(self) -> str:
        """Return a question with words of such turns."""
        return f"what {' '.join(dict.fromkeys(self._draw(_ASKED_WORDS)))}?"

    def _draw(self, count: int) -> list[str]:
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)


class Cloud:
    """Unit vectors in clusters: the same, block by block, each time."""

    def __init__(self, size: int) -> None:
        import numpy as np  # noqa: PLC0415 - the list of benchmarks must not need it

        self.size = size
        count = max(1, min(_MOST_CLUSTERS, size // _TO_A_CLUSTER))
        chance = np.random.default_rng(1)
        self._middles = _units(chance.standard_normal((count, DIMENSIONS), dtype=np.float32))
        self._directions = _units(chance.standard_normal((_INNER, DIMENSIONS), dtype=np.float32))

    def blocks(self) -> "Iterator[Vectors]":
        """Yield all vectors, one block at a time."""
        for start in range(0, self.size, _BLOCK):
            yield self._around(seed=start + 2, count=min(_BLOCK, self.size - start))

    def questions(self, count: int) -> "Vectors":
        """Return vectors that ask for some of the clusters."""
        return self._around(seed=3, count=count)

    def truth(self, questions: "Vectors", most: int) -> "Numbers":
        """Return the indexes of the vectors nearest to each question, by exact float32."""
        import numpy as np  # noqa: PLC0415

        scores = np.full((len(questions), 0), 0, np.float32)
        places = np.zeros((len(questions), 0), np.int64)
        start = 0
        for block in self.blocks():
            scores = np.hstack([scores, questions @ block.T])
            here = np.arange(start, start + len(block), dtype=np.int64)
            places = np.hstack([places, np.broadcast_to(here, (len(questions), len(block)))])
            order = np.argsort(-scores, axis=1)[:, :most]
            scores, places = np.take_along_axis(scores, order, 1), np.take_along_axis(places, order, 1)
            start += len(block)
        return places

    def _around(self, seed: int, count: int) -> "Vectors":
        import numpy as np  # noqa: PLC0415

        chance = np.random.default_rng(seed)
        noise = _units(chance.standard_normal((count, _INNER), dtype=np.float32)) @ self._directions
        middles = self._middles[chance.integers(0, len(self._middles), count)]
        return _units((middles + _SPREAD * noise).astype(np.float32))


def signed_bytes(rows: "Vectors") -> list[bytes]:
    """Return each vector with one signed byte per component, as a plain scan uses them."""
    return [row[:DIMENSIONS] for row in quantise(rows)]


def _units(rows: "Vectors") -> "Vectors":
    import numpy as np  # noqa: PLC0415

    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
