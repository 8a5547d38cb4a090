"""Sorts the tokens of some chunks, so that the chunks and places of a token are one slice of an array."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollectum.domain.records import dataclass
from recollectum.storage.postgres.full_text.tokens import TokenPhrase

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Two bytes with seven bits each are the longest length that ranking tells apart; see `DocumentLengths`.
_LONGEST = (1 << 14) - 1


@dataclass(frozen=True, slots=True)
class TokenSegment:
    """The tokens of some chunks; immutable.

    A chunk is addressed by its position in `numbers`. The place of a token counts all tokens of the segment, with one
    free place after each chunk, so that adjacent places are always in one chunk.
    """

    #: The chunk numbers, ascending.
    numbers: "NDArray[np.int64]"
    #: How many tokens each chunk has.
    lengths: "NDArray[np.int32]"
    #: Whether each chunk is still in the index.
    alive: "NDArray[np.bool_]"
    #: The distinct tokens, ascending.
    vocabulary: "NDArray[np.uint64]"
    #: Where the postings of each token start in the two arrays below, and the end of the last.
    starts: "NDArray[np.int64]"
    #: The chunk of each posting.
    owners: "NDArray[np.int32]"
    #: The place of each posting, ascending for each token.
    places: "NDArray[np.int32]"

    @property
    def held_bytes(self) -> int:
        """Return how many bytes the arrays take."""
        arrays = (self.numbers, self.lengths, self.alive, self.vocabulary, self.starts, self.owners, self.places)
        return sum(one.nbytes for one in arrays)

    def without(self, numbers: "NDArray[np.int64]") -> "TokenSegment":
        """Return the segment without these chunks; it stays itself if it has none of them."""
        found = np.isin(self.numbers, numbers)
        if not (found & self.alive).any():
            return self
        alive = self.alive & ~found
        return TokenSegment(self.numbers, self.lengths, alive, self.vocabulary, self.starts, self.owners, self.places)

    def packed_lengths(self) -> "NDArray[np.uint16]":
        """Return the lengths of the chunks, packed as FTS5 packs them, seven bits in a byte."""
        short = np.minimum(self.lengths, _LONGEST)
        return (short >> 7 << 8 | short & 0x7F).astype(np.uint16)

    def chunks_with(self, phrase: TokenPhrase) -> "NDArray[np.int64]":
        """Return the chunks that contain a phrase, ascending; one of a single token once per occurrence."""
        if len(phrase.tokens) == 1 and phrase.prefixes is None:
            start, stop = self._slice(phrase.tokens[0], phrase.tokens[0])
            return self._alive(self.owners[start:stop])
        if phrase.tokens:
            start, stop = self._slice(phrase.tokens[0], phrase.tokens[0])
            owners, places = self.owners[start:stop], self.places[start:stop]
            following = [self._places(token, token) for token in phrase.tokens[1:]]
            if phrase.prefixes:
                following.append(np.sort(self._places(*phrase.prefixes)))
            for distance, after in enumerate(following, start=1):
                met = _contains(after, places + distance)
                owners, places = owners[met], places[met]
            return self._alive(_distinct(owners))
        if phrase.prefixes:
            start, stop = self._slice(*phrase.prefixes)
            return self._alive(np.unique(self.owners[start:stop]))
        return self.numbers[:0]

    def rows(self) -> "tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint64]]":
        """Return the living chunks, how many tokens each has, and their tokens in order."""
        stream = np.empty(len(self.places), np.uint64)
        stream[self.places - self.owners] = np.repeat(self.vocabulary, np.diff(self.starts))
        if self.alive.all():
            return self.numbers, self.lengths, stream
        return self.numbers[self.alive], self.lengths[self.alive], stream[np.repeat(self.alive, self.lengths)]

    def _slice(self, first: int, last: int) -> tuple[int, int]:
        """Return where the postings of the tokens from the first to the last start and end."""
        start = int(np.searchsorted(self.vocabulary, np.uint64(first), "left"))
        stop = int(np.searchsorted(self.vocabulary, np.uint64(last), "right"))
        return int(self.starts[start]), int(self.starts[stop])

    def _places(self, first: int, last: int) -> "NDArray[np.int32]":
        start, stop = self._slice(first, last)
        return self.places[start:stop]

    def _alive(self, owners: "NDArray[np.int32]") -> "NDArray[np.int64]":
        return self.numbers[owners[self.alive[owners]]]


def segment_of(rows: Sequence[tuple[int, bytes]]) -> TokenSegment:
    """Return the segment of rows, each a chunk number and its packed tokens, in ascending order of the numbers."""
    numbers, tokens = zip(*rows, strict=True)
    lengths = np.array(list(map(len, tokens)), np.int32) // 8
    stream = np.frombuffer(b"".join(tokens), np.dtype("<u8")).astype(np.uint64, copy=False)
    return _sorted(np.array(numbers, np.int64), lengths, stream)


def merge(segments: Iterable[TokenSegment]) -> TokenSegment:
    """Return one segment with the living chunks of several."""
    numbers, lengths, stream = (np.concatenate(parts) for parts in zip(*(one.rows() for one in segments), strict=True))
    if len(numbers) and (numbers[1:] < numbers[:-1]).any():
        order = np.argsort(numbers, kind="stable")
        starts = np.cumsum(lengths) - lengths
        stream = np.concatenate([stream[starts[one] : starts[one] + lengths[one]] for one in order])
        numbers, lengths = numbers[order], lengths[order]
    return _sorted(numbers, lengths, stream)


def _sorted(numbers: "NDArray[np.int64]", lengths: "NDArray[np.int32]", stream: "NDArray[np.uint64]") -> TokenSegment:
    order = _order(stream)
    tokens = stream[order]
    owners = np.repeat(np.arange(len(numbers), dtype=np.int32), lengths)[order]
    firsts = np.flatnonzero(np.concatenate(([True], tokens[1:] != tokens[:-1]))) if len(tokens) else order
    starts = np.append(firsts, len(tokens))
    return TokenSegment(
        numbers,
        lengths,
        np.ones(len(numbers), np.bool_),
        tokens[firsts],
        starts,
        owners,
        (order + owners).astype(np.int32),
    )


def _order(stream: "NDArray[np.uint64]") -> "NDArray[np.int64]":
    """Return the places of the tokens in ascending order; those of one token ascend.

    Each token and its place are sorted as one number, which takes a fifth of the time of a stable sort of the tokens.
    """
    if not len(stream):
        return np.empty(0, np.int64)
    bits = len(stream).bit_length()
    shift = np.uint64(bits)
    # The last bits of long tokens make way for the place.
    lost = np.uint64(max(0, int(stream.max()).bit_length() + bits - 64))
    keys = stream >> lost << shift | np.arange(len(stream), dtype=np.uint64)
    keys.sort()
    order = (keys & ((np.uint64(1) << shift) - np.uint64(1))).astype(np.int64)
    tokens = stream[order]
    # Two tokens that differ only in the lost bits may be mixed, and are then out of order.
    return np.argsort(stream, kind="stable") if lost and (tokens[1:] < tokens[:-1]).any() else order


def _contains(ascending: "NDArray[np.int32]", sought: "NDArray[np.int32]") -> "NDArray[np.bool_]":
    """Return which of the sought numbers are in an ascending array."""
    if not len(ascending):
        return np.zeros(len(sought), np.bool_)
    found = np.minimum(np.searchsorted(ascending, sought), len(ascending) - 1)
    return ascending[found] == sought


def _distinct(ascending: "NDArray[np.int32]") -> "NDArray[np.int32]":
    if not len(ascending):
        return ascending
    return ascending[np.concatenate(([True], ascending[1:] != ascending[:-1]))]
