"""BM25: scores chunks from posting lists with FTS5's formula and constants, in numpy if it is loaded.

Thousands of postings are added up by numpy if vector search has loaded it, and otherwise in a Python loop; both give
the same scores.
"""

import math
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from recollectum.domain.records import dataclass
from recollectum.storage.full_text.posting_source import Postings, count_postings, list_postings
from recollectum.storage.port import Matches
from recollectum.text.terms.analyser import Phrase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_K1: Final = 1.2
_B: Final = 0.75
#: The least weight: a phrase in most chunks says next to nothing, but must not lower a score.
_MIN_IDF: Final = 1e-6


class CorpusSize(NamedTuple):
    """The size of the index."""

    chunks: int
    terms: int

    def weight(self, frequency: int) -> float:
        """Return the inverse document frequency of a phrase that `frequency` chunks contain."""
        # The frequency may be an estimate.
        others = max(0, self.chunks - frequency)
        return max(_MIN_IDF, math.log((others + 0.5) / (frequency + 0.5)))

    @property
    def by_length(self) -> float:
        """Return the score penalty for one more term in a chunk."""
        return _K1 * _B * self.chunks / max(1, self.terms)


class PostingList(NamedTuple):
    """The chunks that contain one phrase, each repeated once per occurrence."""

    numbers: Postings
    #: The number of chunks that contain the phrase, if the list is not complete.
    frequency: int | None = None
    phrase: Phrase | None = None


def score_bm25(
    lists: Iterable[PostingList], packed: "array[int] | NDArray[np.uint16]", size: CorpusSize, *, whole: bool
) -> Matches:
    """Return every chunk in the lists with its score.

    `packed` has the chunks' lengths; `whole` says that no match is missing.
    """
    known = list(lists)
    telling = [one for one in known if count_postings(one.numbers)]
    # Scoring a list counts its chunks; a list without chunks may still have an estimate.
    counts = {one.phrase: one.frequency or 0 for one in known}
    if "numpy" in sys.modules and telling:
        return ArrayScores(whole, size.chunks, counts, *_score_in_numpy(telling, packed, size, counts))
    return Scores(whole, size.chunks, counts, _score_in_python(telling, packed, size, counts))


@dataclass(frozen=True, slots=True)
class PhraseCounts:
    """The phrases that chunks were scored by."""

    whole: bool
    #: The number of chunks in the index.
    chunks: int
    counts: Mapping[Phrase | None, int]

    def frequency(self, phrase: Phrase) -> int:
        """Return in how many chunks one of the phrases is; an estimate in a large index."""
        return self.counts.get(phrase, 0)


@dataclass(frozen=True, slots=True)
class Scores(PhraseCounts):
    """Chunks and their scores, in plain Python."""

    by_number: dict[int, float]

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self.by_number)

    def best(self, most: int) -> list[int]:
        """Return the best chunks, best first; the newer wins a tie."""
        found = self.by_number.items()
        if 0 < most < len(found):
            # Keep every chunk that scores as high as the last wanted one, so that the sort below breaks ties.
            line = sorted(self.by_number.values())[-most]
            found = [one for one in found if one[1] >= line]
        return [number for number, _ in sorted(found, key=lambda one: (-one[1], -one[0]))[:most]]

    def scores(self, numbers: Sequence[int]) -> dict[int, float]:
        """Return the scores of those of the given chunks that are present."""
        known = self.by_number
        return {number: known[number] for number in numbers if number in known}


@dataclass(frozen=True, slots=True)
class ArrayScores(PhraseCounts):
    """Chunks and their scores in two arrays; the chunk numbers ascend."""

    numbers: "NDArray[np.int64]"
    values: "NDArray[np.float64]"

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self.numbers)

    def best(self, most: int) -> list[int]:
        """Return the best chunks, best first; the newer wins a tie."""
        import numpy as np  # noqa: PLC0415 - heavy, and loaded by now

        numbers, values = self.numbers, self.values
        if most < len(numbers):
            # Keep every chunk that scores as high as the last wanted one, so that the sort below breaks ties.
            line = np.partition(values, len(values) - most)[len(values) - most] if most else np.inf
            above = np.flatnonzero(values >= line)
            numbers, values = numbers[above], values[above]
        return numbers[np.lexsort((-numbers, -values))[:most]].tolist()

    def scores(self, numbers: Sequence[int]) -> dict[int, float]:
        """Return the scores of those of the given chunks that are present."""
        import numpy as np  # noqa: PLC0415

        sought = np.array(numbers, np.int64)
        places = np.minimum(np.searchsorted(self.numbers, sought), len(self.numbers) - 1)
        there = self.numbers[places] == sought
        return dict(zip(sought[there].tolist(), self.values[places[there]].tolist(), strict=True))


def _score_in_python(
    lists: Iterable[PostingList],
    packed: "array[int] | NDArray[np.uint16]",
    size: CorpusSize,
    counts: dict[Phrase | None, int],
) -> dict[int, float]:
    found: dict[int, float] = {}
    by_length = size.by_length
    for one in lists:
        times = Counter[int](list_postings(one.numbers))
        frequency = counts[one.phrase] = one.frequency or len(times)
        weight = size.weight(frequency)
        # Most chunks have a length and a count that others have too.
        gains: dict[int, float] = {}
        for number, count in times.items():
            length = packed[number]
            key = count << 16 | length
            gain = gains.get(key)
            if gain is None:
                terms = (length & 0x7F00) >> 1 | length & 0x7F
                against = _K1 * (1 - _B) + by_length * terms
                gain = gains[key] = weight * ((_K1 + 1) * count) / (against + count)
            found[number] = found.get(number, 0.0) + gain
    return found


def _score_in_numpy(
    lists: Sequence[PostingList],
    packed: "array[int] | NDArray[np.uint16]",
    size: CorpusSize,
    counts: dict[Phrase | None, int],
) -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
    import numpy as np  # noqa: PLC0415

    # Join all lists into one: starting a numpy operation costs more than the few thousand numbers of a list.
    listed = _joined([one.numbers for one in lists])
    ends = np.array([count_postings(one.numbers) for one in lists]).cumsum()
    first = _firsts(listed, ends[:-1])
    numbers = listed[first]
    count = np.empty(len(first))
    count[:-1], count[-1] = first[1:] - first[:-1], len(listed) - first[-1]
    reached = [0, *np.searchsorted(first, ends).tolist()]
    chunks = [stop - start for start, stop in pairwise(reached)]
    frequencies = [one.frequency or found for one, found in zip(lists, chunks, strict=True)]
    counts.update((one.phrase, frequency) for one, frequency in zip(lists, frequencies, strict=True))
    weights = [size.weight(frequency) for frequency in frequencies]
    length = np.frombuffer(packed, np.uint16)[numbers]
    against = size.by_length * ((length & 0x7F00) >> 1 | length & 0x7F)
    against += _K1 * (1 - _B)
    values = np.repeat(weights, chunks)
    values *= (_K1 + 1) * count
    against += count
    values /= against
    order = numbers.argsort(kind="stable")
    numbers = numbers[order]
    first = _firsts(numbers)
    return numbers[first], np.add.reduceat(values[order], first)


def _joined(lists: Sequence[Postings]) -> "NDArray[np.int64]":
    import numpy as np  # noqa: PLC0415

    texts = [one for one in lists if isinstance(one, str)]
    if len(texts) == len(lists):
        return np.fromstring(",".join([text[1:-1] for text in texts]), np.int64, sep=",")
    return np.concatenate([np.array(list_postings(one)) if isinstance(one, str) else one for one in lists])


def _firsts(ascending: "NDArray[np.int64]", begins: "NDArray[np.intp] | None" = None) -> "NDArray[np.intp]":
    """Return the index of the first occurrence of each number, counted separately in each list."""
    import numpy as np  # noqa: PLC0415

    new = np.empty(len(ascending), np.bool_)
    new[0] = True
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    if begins is not None:
        new[begins] = True
    return np.flatnonzero(new)
