"""Finds candidates for the nearest vectors by sign bits (binary quantisation), which take a twelfth of their memory.

A bit says whether a component is above its mean. Bits are kept of the components that vary most. For a question, those
count in which it is farthest from the mean; the rows that differ least from it there are then scored by their bytes.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from recollectum.domain.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.int8]
    Words = NDArray[np.uint64]
    Places = NDArray[np.int64]
    Floats = NDArray[np.float32]

#: The most components that have a bit: half of them count for a question, so that a distance fits into a byte.
_MOST_COMPONENTS: Final = 256
_WORD = 64
#: Rows from which the means are estimated, and distances from which the threshold is.
_MEASURED, _SAMPLE = 1_024, 4_096
#: Rows that get their bits at once.
_PACKED = 1_024
#: Rows compared at once: their words stay in the cache.
_BLOCK = 65_536
#: Rows that get their bits during one question.
_STEP = 65_536
#: Candidates for one question: so many, and one more for so many rows; and so many times the requested number.
_CANDIDATES, _CANDIDATE_SHARE, _CANDIDATE_FACTOR = 3_072, 256, 24


@dataclass(frozen=True, slots=True)
class SignBits:
    """The sign bits of the first `count` rows of a matrix."""

    #: The components that have a bit, and their means in signed bytes.
    components: "Places"
    middle: "Bytes"
    #: One line for each word of 64 components.
    planes: "Words"
    count: int = 0

    @property
    def held_bytes(self) -> int:
        """Return the memory in bytes."""
        return self.planes.nbytes

    def extended(self, rows: "Bytes", room: int) -> "SignBits":
        """Return the bits of more of these rows, of which the first ones are known; reserve room for `room` rows."""
        import numpy as np  # noqa: PLC0415 - heavy, and only where there are vectors

        planes, end = self.planes, min(len(rows), self.count + _STEP)
        if planes.shape[1] < end:
            # Other threads may go on reading the old planes.
            planes = np.zeros((len(planes), room), np.uint64)
            planes[:, : self.count] = self.planes[:, : self.count]
        for start in range(self.count, end, _PACKED):
            stop = min(start + _PACKED, end)
            planes[:, start:stop] = self._packed(rows[start:stop]).T
        return replace(self, planes=planes, count=end)

    def distances(self, asked: "Bytes") -> "NDArray[np.uint8]":
        """Return, for each row, in how many of the components that count it is on the other side of the mean."""
        import numpy as np  # noqa: PLC0415

        words, telling = self._packed(asked.reshape(1, -1))[0], self._telling(asked)
        distances = np.zeros(self.count, np.uint8)
        differing, bits = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)
        for start in range(0, self.count, _BLOCK):
            total = distances[start : start + _BLOCK]
            here, some = differing[: len(total)], bits[: len(total)]
            for plane, word, mask in zip(self.planes, words, telling, strict=True):
                np.bitwise_xor(plane[start : start + len(total)], word, out=here)
                np.bitwise_and(here, mask, out=here)
                np.bitwise_count(here, out=some)
                np.add(total, some, out=total)
        return distances

    def _telling(self, asked: "Bytes") -> "Words":
        """Return the components in which a query is farthest from the mean, as bits."""
        import numpy as np  # noqa: PLC0415

        far = np.abs(asked[self.components].astype(np.int16) - self.middle)
        half = np.zeros(len(far), np.bool_)
        half[np.argsort(-far, kind="stable")[: -(-len(far) // 2)]] = True
        return _to_words(half.reshape(1, -1))[0]

    def _packed(self, rows: "Bytes") -> "Words":
        return _to_words(rows.take(self.components, axis=1) > self.middle)


def no_bits(rows: "Bytes", inverse: "Floats") -> SignBits:
    """Return the sign bits of no row yet, with the means of some of these rows.

    `inverse` has the inverse of the length of each row.
    """
    import numpy as np  # noqa: PLC0415

    step = max(1, len(rows) // _MEASURED)
    sample = rows[::step].astype(np.float32)
    middle = np.rint(sample.mean(axis=0)).astype(np.int8)
    sample *= inverse[::step, None]
    varying = np.einsum("ij,ij->j", sample, sample) / len(sample) - sample.mean(axis=0) ** 2
    components = np.sort(np.argsort(-varying, kind="stable")[:_MOST_COMPONENTS])
    planes = np.zeros((-(-len(components) // _WORD), 0), np.uint64)
    return SignBits(components, middle[components], planes)


def nearest_rows(distances: "NDArray[np.uint8]", most: int) -> "Places":
    """Return the positions of the least distances, in ascending order: enough to contain the `most` nearest."""
    import numpy as np  # noqa: PLC0415

    count = len(distances)
    wanted = max(_CANDIDATES + count // _CANDIDATE_SHARE, _CANDIDATE_FACTOR * most)
    if wanted >= count:
        return np.arange(count)
    sample = distances[:: max(1, count // _SAMPLE)]
    least = wanted * len(sample) // count
    # A distance is a byte: to count each value takes a third of the time of a partition.
    line = int(np.bincount(sample).cumsum().searchsorted(least, side="right"))
    found = np.flatnonzero(distances <= line)
    if 2 * len(found) < wanted:
        # The sample has more near rows than the whole.
        found = np.flatnonzero(distances <= np.partition(distances, wanted)[wanted])
    return found


def can_count_bits() -> bool:
    """Return whether numpy counts bits, which it does from version 2."""
    import numpy as np  # noqa: PLC0415

    return hasattr(np, "bitwise_count")


def _to_words(bits: "NDArray[np.bool_]") -> "Words":
    """Return the bits of each row as words of 64; the last word is filled up with zeros."""
    import numpy as np  # noqa: PLC0415

    width = -(-bits.shape[1] // _WORD) * _WORD
    if bits.shape[1] < width:
        bits = np.pad(bits, ((0, 0), (0, width - bits.shape[1])))
    return np.packbits(bits.ravel()).reshape(len(bits), -1).view(np.uint64)
