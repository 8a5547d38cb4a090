"""Scans a snapshot of quantised vectors for a query, and re-scores the best exactly."""

import math
from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from recollectum.domain.records import dataclass
from recollectum.recall.vectors.ivf import IvfCells, find_places
from recollectum.recall.vectors.quantisation import dequantise, quantise_query
from recollectum.recall.vectors.sign_bits import SignBits, nearest_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float32]
    Bytes = NDArray[np.int8]

#: The number of scores from which the threshold is estimated.
_LINE = 4096
#: The number of rows from which mean and deviation of the cosines are estimated: in a small vault, and from so many
#: rows on.
_BACKGROUND, _LARGE_BACKGROUND, SIGN_SCAN_MINIMUM = 4096, 1024, 32_768
#: The number of rows that are re-scored exactly: this many times the requested number, and at least the second number.
_POOL, _LEAST_POOL = 2, 64
#: The number of best rows taken from a whole scan: enough for what most questions request in turn.
_FIRST = 128
#: If a filter allows at most one row in this many, its rows are gathered; otherwise all are scanned.
_GATHERED = 32
_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class ExactVectors:
    """Some vectors at full precision, and their lengths."""

    places: "Numbers"
    rows: "NDArray[np.float32]"
    lengths: "Scores"

    def cosines(self, query: "NDArray[np.float32]") -> "Scores":
        """Return the cosine of each with a query of length 1."""
        import numpy as np  # noqa: PLC0415

        # Not with @, which would start a second thread for a tenth of a millisecond's work.
        return np.einsum("ij,j->i", self.rows, query) / self.lengths


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """A snapshot of the rows."""

    rows: "Bytes"
    low: "NDArray[np.uint8]"
    #: The inverse of the length of each row of signed bytes; 0 for an empty row.
    inverse: "Scores"
    numbers: "Numbers"
    lists: IvfCells | None
    #: The sign bits of all rows; None while there are none.
    signs: SignBits | None = None

    def places(self, numbers: "Numbers") -> "Numbers":
        """Return the place of each chunk; -1 for one without a vector."""
        import numpy as np  # noqa: PLC0415

        if self.lists is None:
            return find_places(self.numbers, None, numbers)
        grouped = self.lists.grouped
        loose = find_places(self.numbers[grouped:], None, numbers)
        return np.where(loose >= 0, loose + grouped, self.lists.place(numbers))

    def exactly(self, places: "Numbers") -> ExactVectors:
        """Return the vectors at some places, at full precision."""
        found = dequantise(self.rows.take(places, axis=0), self.low.take(places, axis=0))
        return ExactVectors(places, found, _row_lengths(found))

    def middle(self, chunks: list[int]) -> "Scores | None":
        """Return the mean of the vectors of some chunks, each scaled to length 1; None if none has a vector."""
        import numpy as np  # noqa: PLC0415

        places = self.places(np.array(chunks, np.int64))
        found = self.exactly(places[places >= 0])
        return (found.rows / found.lengths[:, None]).mean(axis=0) if len(found.places) else None

    def scan(self, asked: "Bytes", spans: list[tuple[int, int]]) -> "Scores":
        """Return the scores of the rows of some spans for a query of signed bytes, in the order of their cosines."""
        count, end = sum(stop - start for start, stop in spans), 0
        scores = _dot_products(asked, (self.rows[start:stop] for start, stop in spans), count)
        for start, stop in spans:
            begin, end = end, end + stop - start
            part = scores[begin:end]
            # In place: allocating memory costs more than the work.
            part *= self.inverse[start:stop]
        return scores

    def scores_at(self, asked: "Bytes", places: "Numbers") -> "Scores":
        """Return the scores of the rows at some places."""
        # A few at a time: they stay in the cache, and take little memory beside the matrix.
        parts = (places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE))
        scores = _dot_products(asked, (self.rows.take(some, axis=0) for some in parts), len(places))
        scores *= self.inverse[places]
        return scores

    def top_among(self, asked: "Bytes", places: "Numbers", most: int) -> "Numbers":
        """Return those of some places that have the highest scores; few rows are gathered, many are scanned."""
        if len(places) * _GATHERED <= len(self.rows):
            scores = self.scores_at(asked, places)
        else:
            scores = self.scan(asked, [(0, len(self.rows))])[places]
        return places[_top_places(scores, most)]


class Scan(Protocol):
    """A scan of a block for a query."""

    @property
    def count(self) -> int:
        """Return the number of rows that were scanned."""
        ...

    def sample(self, most: int) -> "Scores":
        """Return the scores of about so many rows from all over the block."""
        ...

    def top(self, most: int) -> "Numbers":
        """Return the places of the highest scores, `most` or all, in no order."""
        ...

    def top_among(self, places: "Numbers", most: int) -> "Numbers":
        """Return those of some places, in ascending order, that have the highest scores."""
        ...


@dataclass(frozen=True, slots=True)
class ByteScan:
    """A scan of the signed bytes of all rows, or of some spans of them."""

    block: VectorBlock
    asked: "Bytes"
    spans: list[tuple[int, int]]
    scores: "Scores"

    @property
    def count(self) -> int:
        """Return the number of rows that were scanned."""
        return len(self.scores)

    def sample(self, most: int) -> "Scores":
        """Return the scores of about so many rows from all over what was scanned."""
        return self.scores[:: max(1, len(self.scores) // most)]

    def top(self, most: int) -> "Numbers":
        """Return the places of the highest scores, `most` or all, in no order."""
        return _to_places(_top_places(self.scores, most), self.spans)

    def top_among(self, places: "Numbers", most: int) -> "Numbers":
        """Return those of some places that have the highest scores; the scanned cells may contain none of them."""
        if self.block.lists is None:
            return places[_top_places(self.scores[places], most)]
        return self.block.top_among(self.asked, places, most)


@dataclass(frozen=True, slots=True)
class SignScan:
    """A scan of the sign bits of all rows; those that they find are scored by their bytes."""

    block: VectorBlock
    asked: "Bytes"
    distances: "NDArray[np.uint8]"

    @property
    def count(self) -> int:
        """Return the number of rows that were scanned."""
        return len(self.distances)

    def sample(self, most: int) -> "Scores":
        """Return the scores of about so many rows from all over the block."""
        step = max(1, self.count // most)
        rows = self.block.rows[::step]
        return _dot_products(self.asked, [rows], len(rows)) * self.block.inverse[::step]

    def top(self, most: int) -> "Numbers":
        """Return the places of the highest scores, `most` or all, in no order."""
        found = nearest_rows(self.distances, most)
        return found[_top_places(self.block.scores_at(self.asked, found), most)]

    def top_among(self, places: "Numbers", most: int) -> "Numbers":
        """Return those of some places that have the highest scores, by the bytes of all of them."""
        return self.block.top_among(self.asked, places, most)


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The nearest chunks of a query: one scan finds the candidates, which are then compared exactly."""

    block: VectorBlock
    query: "NDArray[np.float32]"
    #: The scanned query, and the scan.
    asked: "Bytes"
    scan: Scan
    #: The rows with the highest scores.
    first: ExactVectors

    def without_gone(self, standing: "Callable[[list[int]], Set[int]]") -> "ScanResult":
        """Return the result without those of the first rows that `standing` does not confirm."""
        import numpy as np  # noqa: PLC0415

        numbers = self.block.numbers[self.first.places].tolist()
        there = standing(numbers)
        kept = np.array([number in there for number in numbers], np.bool_)
        first = ExactVectors(self.first.places[kept], self.first.rows[kept], self.first.lengths[kept])
        return replace(self, first=first)

    def moved(self, query: "NDArray[np.float32]") -> "ScanResult":
        """Return the result for a query so close to this one that another scan would find nearly the same rows."""
        return replace(self, query=_normalised(query))

    def best(self, most: int, allowed: "set[int] | None" = None) -> list[int]:
        """Return the numbers of the nearest chunks, nearest first; the newer wins a tie."""
        return list(self.ranked(most, allowed))

    def ranked(self, most: int, allowed: "set[int] | None" = None) -> dict[int, float]:
        """Return the numbers of the nearest chunks with their cosines, nearest first."""
        import numpy as np  # noqa: PLC0415

        found = self._candidates(most, allowed)
        numbers, cosines = self.block.numbers[found.places], found.cosines(self.query)
        order = np.argsort(-cosines)
        ordered = cosines[order]
        if (ordered[1:] == ordered[:-1]).any():
            # Two keys take several times as long, and ties are rare.
            order = np.lexsort((-numbers, -cosines))
        # A place that was reserved for a damaged row has no number.
        order = order[numbers[order] > 0][:most]
        return dict(zip(numbers[order].tolist(), cosines[order].tolist(), strict=True))

    def of(self, chunks: list[int]) -> list[float | None]:
        """Return the cosine of each chunk; None for one that has no vector yet."""
        import numpy as np  # noqa: PLC0415

        places = self.block.places(np.array(chunks, np.int64))
        there = places >= 0
        cosines = iter(self.block.exactly(places[there]).cosines(self.query).tolist())
        return [next(cosines) if here else None for here in there.tolist()]

    def background(self) -> tuple[float, float]:
        """Return mean and standard deviation of the cosines of the scanned rows, from a sample."""
        import numpy as np  # noqa: PLC0415

        sample = self.scan.sample(_BACKGROUND if len(self.block.rows) < SIGN_SCAN_MINIMUM else _LARGE_BACKGROUND)
        if not len(sample):
            return 0.0, 0.0
        length, mean = _length(self.asked.astype(np.float32)), sample.mean()
        rest = sample - mean
        return float(mean) / length, math.sqrt(float(rest.dot(rest)) / len(rest)) / length

    def middle(self, most: int) -> "NDArray[np.float32]":
        """Return the mean of the nearest vectors, each scaled to length 1."""
        import numpy as np  # noqa: PLC0415

        nearest = np.argsort(-self.first.cosines(self.query), kind="stable")[:most]
        return (self.first.rows[nearest] / self.first.lengths[nearest, None]).mean(axis=0)

    def _candidates(self, most: int, allowed: "set[int] | None") -> ExactVectors:
        """Return the candidates for the nearest: a multiple of the requested number, by the scan."""
        pool = max(_POOL * most, _LEAST_POOL)
        if allowed is not None:
            return self.block.exactly(self._found_among(allowed, pool))
        if pool <= len(self.first.places) or len(self.first.places) == self.scan.count:
            return self.first
        return self.block.exactly(self.scan.top(pool))

    def _found_among(self, allowed: set[int], most: int) -> "Numbers":
        """Return the places of the best among some chunks."""
        import numpy as np  # noqa: PLC0415

        places = self.block.places(np.fromiter(allowed, np.int64, len(allowed)))
        return self.scan.top_among(np.sort(places[places >= 0]), most)


def scan_nearest(block: VectorBlock, query: "NDArray[np.float32]", least: int) -> ScanResult:
    """Scan a block for a query: by sign bits, or else all rows, or at least `least` rows of the nearest cells."""
    query = _normalised(query)
    asked = quantise_query(query)
    scan: Scan
    if block.signs is not None:
        scan = SignScan(block, asked, block.signs.distances(asked))
    else:
        spans = [(0, len(block.rows))]
        if block.lists is not None:
            spans = [*block.lists.spans(query, least), (block.lists.grouped, len(block.rows))]
        scan = ByteScan(block, asked, spans, block.scan(asked, spans))
    return ScanResult(block, query, asked, scan, block.exactly(scan.top(_FIRST)))


def _to_places(found: "NDArray[np.int64]", spans: list[tuple[int, int]]) -> "Numbers":
    """Return the places in the block of the positions in a scan of some spans."""
    import numpy as np  # noqa: PLC0415

    if len(spans) == 1:
        return found + spans[0][0]
    sizes = np.array([stop - start for start, stop in spans], np.int64).cumsum()
    span = np.searchsorted(sizes, found, side="right")
    return found - sizes[span] + np.array([stop for _, stop in spans], np.int64)[span]


def _top_places(scores: "Scores", most: int) -> "NDArray[np.int64]":
    """Return the positions of the highest scores, `most` or all, in no order."""
    import numpy as np  # noqa: PLC0415

    if len(scores) <= most:
        return np.arange(len(scores))
    if len(scores) <= _LINE:
        return np.argpartition(scores, len(scores) - most)[-most:]
    # A sample of a few thousand estimates the threshold; sorting all would take as long as the scan.
    sample = scores[:: max(1, len(scores) // _LINE)]
    above = min(len(sample), 2 * most * len(sample) // len(scores) + 8)
    found = np.flatnonzero(scores >= np.partition(sample, len(sample) - above)[len(sample) - above])
    if len(found) < most:
        found = np.arange(len(scores))
    return found[np.argpartition(scores[found], len(found) - most)[-most:]] if len(found) > most else found


def _row_lengths(rows: "NDArray[np.float32]") -> "Scores":
    """Return the length of each row, and 1 for one of zeros."""
    import numpy as np  # noqa: PLC0415

    return np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1)


def byte_lengths(rows: "Bytes") -> "Scores":
    """Return the length of each row of signed bytes, and 1 for one of zeros."""
    import numpy as np  # noqa: PLC0415

    try:
        from numkong import dot  # noqa: PLC0415 - optional
    except ImportError:
        return _row_lengths(rows.astype(np.float32))
    return np.maximum(np.sqrt(np.asarray(dot(rows, rows), np.float32)), 1)


def _normalised(query: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np  # noqa: PLC0415

    return (query / _length(query)).astype(np.float32)


def _length(vector: "Scores") -> float:
    """Return the length of one vector, and 1 for one of zeros."""
    return math.sqrt(float(vector.dot(vector))) or 1.0


def _dot_products(query: "Bytes", parts: "Iterable[Bytes]", count: int) -> "Scores":
    """Return the dot product of a query with each of `count` rows: by the SIMD package if installed, else by numpy."""
    import numpy as np  # noqa: PLC0415

    scores = np.empty(count, np.float32)
    try:
        from numkong import cdist  # noqa: PLC0415 - optional
    except ImportError:
        wide = query.astype(np.float32)
        blocks = (rows[start : start + 4096] for rows in parts for start in range(0, len(rows), 4096))
        return np.concatenate([block.astype(np.float32) @ wide for block in blocks] or [scores])
    asked, end = query.reshape(1, -1), 0
    for rows in filter(len, parts):
        begin, end = end, end + len(rows)
        cdist(asked, rows, "dot", out=scores[None, begin:end])
    return scores
