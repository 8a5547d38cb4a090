"""Finds candidates for the nearest vectors by the Hamming distance of their sign bits (binary quantisation).

One bit for each component says whether it is above the mean of that component. A scan of these bits reads an eighth of
the memory that a scan of the signed bytes reads; the rows that it finds are then scored by their bytes.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.int8]
    Words = NDArray[np.uint64]
    Places = NDArray[np.int64]
    Floats = NDArray[np.float32]

#: From this many vectors on, the bits are scanned first.
SIGN_SCAN_MINIMUM: Final = 50_000
#: Candidates for one question: one row in the first number, and at least the second number.
_CANDIDATE_SHARE, _LEAST_CANDIDATES = 16, 4_096
#: With more candidates than one row in this many, as among equal texts, the bits do not tell enough.
_USELESS_SHARE = 4
#: The means are estimated again when there are this many times the rows.
_GROWTH: Final = 2
#: The number of rows from which the means and the threshold are estimated.
_SAMPLE = 4_096
#: Rows compared at once: their words stay in the cache.
_BLOCK = 65_536
_WORD = 64


@dataclass(frozen=True, slots=True)
class SampleMoments:
    """The mean and the covariance of a sample of rows, each scaled to length 1."""

    mean: "Floats"
    covariance: "Floats"

    def along(self, asked: "Bytes") -> tuple[float, float]:
        """Return the mean and the standard deviation of the dot products of the rows with a query."""
        import numpy as np  # noqa: PLC0415 - heavy, and only where there are vectors

        wide = asked.astype(np.float32)
        return float(self.mean @ wide), float(np.sqrt(max(0.0, float(wide @ (self.covariance @ wide)))))


@dataclass(frozen=True, slots=True)
class SignBits:
    """The sign bits of the first `count` rows of a matrix; `planes` has one line for each word of 64 components."""

    middle: "Bytes"
    planes: "Words"
    moments: SampleMoments
    #: There were so many rows when the means were estimated.
    size: int
    count: int = 0

    def extended(self, rows: "Bytes", room: int) -> "SignBits":
        """Return the bits of these rows, of which the first ones are known; reserve room for `room` rows."""
        import numpy as np  # noqa: PLC0415

        planes = self.planes
        if planes.shape[1] < len(rows):
            # Other threads may go on reading the old planes.
            planes = np.zeros((len(planes), room), np.uint64)
            planes[:, : self.count] = self.planes[:, : self.count]
        for start in range(self.count, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            planes[:, start : start + len(block)] = _packed(block, self.middle).T
        return replace(self, planes=planes, count=len(rows))

    def candidates(self, asked: "Bytes") -> "Places | None":
        """Return the places of the rows with the nearest bits, ascending; None if the bits do not tell enough."""
        import numpy as np  # noqa: PLC0415

        distances = self.distances(asked)
        sample = distances[:: max(1, self.count // _SAMPLE)]
        wanted = max(_LEAST_CANDIDATES, self.count // _CANDIDATE_SHARE) * len(sample) // max(1, self.count)
        if wanted >= len(sample):
            return None
        found = np.flatnonzero(distances <= np.partition(sample, wanted)[wanted])
        return found if len(found) * _USELESS_SHARE <= self.count else None

    def distances(self, asked: "Bytes") -> "NDArray[np.uint16]":
        """Return how many bits of each row differ from those of a query."""
        import numpy as np  # noqa: PLC0415

        words = _packed(asked.reshape(1, -1), self.middle)[0]
        distances = np.zeros(self.count, np.uint16)
        differing, bits = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)
        for start in range(0, self.count, _BLOCK):
            total = distances[start : start + _BLOCK]
            size = len(total)
            for plane, word in zip(self.planes[:, start : start + size], words, strict=True):
                np.bitwise_xor(plane, word, out=differing[:size])
                np.bitwise_count(differing[:size], out=bits[:size])
                total += bits[:size]
        return distances

    @property
    def held_bytes(self) -> int:
        """Return the memory in bytes."""
        return self.planes.nbytes + self.middle.nbytes + self.moments.mean.nbytes + self.moments.covariance.nbytes

    def is_outgrown(self, size: int) -> bool:
        """Return whether there are many more rows than when the means were estimated."""
        return size > _GROWTH * self.size


def can_count_bits() -> bool:
    """Return whether numpy counts bits, which it does from version 2."""
    import numpy as np  # noqa: PLC0415

    return hasattr(np, "bitwise_count")


def no_bits(rows: "Bytes", inverse: "Floats") -> SignBits:
    """Return the sign bits of no row yet, to be compared with the means of some of these rows.

    `inverse` has the inverse of the length of each row.
    """
    import numpy as np  # noqa: PLC0415

    step = max(1, len(rows) // _SAMPLE)
    sample = rows[::step].astype(np.float32)
    middle = np.rint(sample.mean(axis=0)).astype(np.int8)
    sample *= inverse[::step, None]
    mean = sample.mean(axis=0)
    sample -= mean
    planes = np.zeros((-(-rows.shape[1] // _WORD), 0), np.uint64)
    return SignBits(middle, planes, SampleMoments(mean, sample.T @ sample / len(sample)), len(rows))


def _packed(rows: "Bytes", middle: "Bytes") -> "Words":
    """Return the bits of each row as words of 64; the last word may be filled up with zeros."""
    import numpy as np  # noqa: PLC0415

    packed = np.packbits(rows > middle, axis=1)
    width = -(-rows.shape[1] // _WORD) * (_WORD // 8)
    if packed.shape[1] < width:
        packed = np.pad(packed, ((0, 0), (0, width - packed.shape[1])))
    return packed.view(np.uint64)
