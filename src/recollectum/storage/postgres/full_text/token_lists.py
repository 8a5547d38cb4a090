"""Keeps the tokens of one vault in memory as sorted segments, and reads posting lists from them."""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recollectum.storage.full_text.bm25 import CorpusSize, score_bm25
from recollectum.storage.full_text.candidates import choose_lists
from recollectum.storage.full_text.posting_source import NO_LIMIT, Postings
from recollectum.storage.port import Matches
from recollectum.storage.postgres.full_text.token_segment import TokenSegment, merge, segment_of
from recollectum.storage.postgres.full_text.tokens import TokenPhrase
from recollectum.text.terms.analyser import Phrase

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A segment is merged with the next one unless it has more than so many times its tokens.
_GROWTH = 4


class TokenLists:
    """The tokens of all chunks in one state of a vault; immutable, a change returns another that shares segments."""

    def __init__(self, segments: Sequence[TokenSegment] = ()) -> None:
        self._segments = tuple(segments)

    @cached_property
    def size(self) -> CorpusSize:
        """Return the number of chunks and of tokens."""
        return CorpusSize(
            sum(int(one.alive.sum()) for one in self._segments),
            sum(int(one.lengths[one.alive].sum()) for one in self._segments),
        )

    @cached_property
    def highest(self) -> int:
        """Return the highest chunk number; 0 if there is none."""
        return max((int(one.numbers[one.alive][-1]) for one in self._segments if one.alive.any()), default=0)

    @cached_property
    def packed(self) -> "NDArray[np.uint16]":
        """Return the packed length of every chunk by its number; 0 for a missing chunk."""
        packed = np.zeros(self.highest + 1, np.uint16)
        for one in self._segments:
            packed[one.numbers[one.alive]] = one.packed_lengths()[one.alive]
        return packed

    @cached_property
    def held_bytes(self) -> int:
        """Return how many bytes the lists take in memory."""
        return sum(one.held_bytes for one in self._segments) + 2 * (self.highest + 1)

    def changed(self, rows: Sequence[tuple[int, bytes | None]]) -> "TokenLists":
        """Return the lists after some rows, in ascending order, were replaced or, without tokens, removed."""
        if not rows:
            return self
        segments = list(self._segments)
        if segments:
            numbers = np.array([number for number, _ in rows], np.int64)
            segments = [one.without(numbers) for one in segments]
        added = [(number, tokens) for number, tokens in rows if tokens is not None]
        if added:
            segments.append(segment_of(added))
        return TokenLists(_merged(segments))

    def chunks_with(self, phrase: TokenPhrase) -> "NDArray[np.int64]":
        """Return the chunks that contain a phrase, ascending; one of a single token once per occurrence."""
        found = [one.chunks_with(phrase) for one in self._segments]
        found = [one for one in found if len(one)]
        if len(found) <= 1:
            return found[0] if found else np.empty(0, np.int64)
        joined = np.concatenate(found)
        # A chunk that was indexed again is in a later segment than its neighbours.
        if any(one[-1] > other[0] for one, other in itertools.pairwise(found)):
            joined.sort()
        return joined

    def matches(self, phrases: Sequence[Phrase], among: Collection[int] | None) -> Matches:
        """Return the chunks that contain any of the phrases; see `storage.port.TextIndex`."""
        if not phrases or not self.highest:
            return score_bm25((), self.packed, CorpusSize(0, 0), whole=True)
        named = {f"{phrase.words}*" if phrase.prefix else phrase.words: phrase for phrase in phrases}
        lists, whole = choose_lists(TokenPostings(self, named), named, self.highest, among)
        return score_bm25(lists, self.packed, self.size, whole=whole)


class TokenPostings:
    """The posting lists of the phrases of one question; see `storage.full_text.posting_source.PostingSource`."""

    def __init__(self, lists: TokenLists, phrases: Mapping[str, Phrase]) -> None:
        self._lists = lists
        self._phrases = phrases
        self._known: dict[str, NDArray[np.int64]] = {}

    def some(self, phrases: Iterable[str], most: int) -> "dict[str, Postings]":
        """Return the first `most` postings of each phrase, or all."""
        return {phrase: self._all(phrase)[: None if most == NO_LIMIT else most] for phrase in phrases}

    def newest(self, phrase: str, most: int, rare: Sequence[str], frequent: Sequence[str]) -> "tuple[Postings, int]":
        """Return the newest chunks with a phrase, its newest ones with a frequent phrase, and all with a rare phrase.

        Also return the oldest chunk that was compared with the frequent phrases; 0 if all were.
        """
        chunks = self._distinct(phrase)
        met = self._with_any(chunks, frequent)[-most:]
        found = np.union1d(np.union1d(chunks[-most:], self._with_any(chunks, rare)), met)
        return found, int(met[0]) if len(met) == most else 0

    def beside(self, phrase: str, rare: Sequence[str], leading: Sequence[str], oldest: int) -> "Postings":
        """Return the chunks that contain a phrase and a rare one, or, from the oldest, the leading one; each once."""
        chunks = self._distinct(phrase)
        found = self._with_any(chunks, rare)
        if leading:
            found = np.union1d(found, self._with_any(chunks[np.searchsorted(chunks, oldest) :], leading))
        return found

    def among(self, phrase: str, numbers: Collection[int]) -> "Postings":
        """Return those of the chunks that contain a phrase, each once."""
        return np.intersect1d(self._distinct(phrase), np.array([*numbers], np.int64))

    def first(self, phrase: str, start: int, end: int, most: int) -> tuple[int, int]:
        """Count the oldest chunks of a range with a phrase, up to `most`, and return the count and the last of them."""
        chunks = self._distinct(phrase)
        found = chunks[np.searchsorted(chunks, start) : np.searchsorted(chunks, end, "right")][:most]
        return len(found), int(found[-1]) if len(found) else 0

    def last(self, phrase: str, most: int) -> tuple[int, int]:
        """Count the newest chunks with a phrase, up to `most`, and return the count and the oldest of them."""
        found = self._distinct(phrase)[-most:]
        return len(found), int(found[0]) if len(found) else 0

    def _all(self, phrase: str) -> "NDArray[np.int64]":
        found = self._known.get(phrase)
        if found is None:
            found = self._known[phrase] = self._lists.chunks_with(TokenPhrase(self._phrases[phrase]))
        return found

    def _distinct(self, phrase: str) -> "NDArray[np.int64]":
        found = self._all(phrase)
        return found[np.concatenate(([True], found[1:] != found[:-1]))] if len(found) else found

    def _with_any(self, chunks: "NDArray[np.int64]", phrases: Sequence[str]) -> "NDArray[np.int64]":
        """Return those of the chunks that also contain one of the phrases."""
        met = np.zeros(len(chunks), np.bool_)
        for phrase in phrases:
            met |= np.isin(chunks, self._all(phrase))
        return chunks[met]


def _merged(segments: Sequence[TokenSegment]) -> list[TokenSegment]:
    """Merge small segments, so that there are few and each token is sorted again only a few times."""
    kept = [one for one in segments if one.alive.any()]
    while len(kept) > 1 and len(kept[-2].owners) <= _GROWTH * len(kept[-1].owners):
        kept[-2:] = [merge(kept[-2:])]
    return kept
