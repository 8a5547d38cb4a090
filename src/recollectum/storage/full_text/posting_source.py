"""Defines what ranking asks of the posting lists of an engine."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_LIMIT: Final = -1
#: Chunk numbers in ascending order: a JSON list without spaces, as SQLite makes it, or an array.
Postings: TypeAlias = "str | NDArray[np.int64]"


def count_postings(postings: Postings) -> int:
    """Return how many numbers there are."""
    if isinstance(postings, str):
        return 0 if postings == "[]" else postings.count(",") + 1
    return len(postings)


def list_postings(postings: Postings) -> list[int]:
    """Return the numbers as a list."""
    return json.loads(postings) if isinstance(postings, str) else postings.tolist()


class PostingSource(Protocol):
    """The posting lists of one text index, each by the name that the engine gives a phrase.

    A chunk is repeated once per occurrence of a single term, and listed once for several terms or a prefix.
    """

    def some(self, phrases: Iterable[str], most: int) -> Mapping[str, Postings]:
        """Return the first `most` postings of each phrase, or all."""
        ...

    def newest(self, phrase: str, most: int, rare: Sequence[str], frequent: Sequence[str]) -> tuple[Postings, int]:
        """Return the newest chunks with a phrase, its newest ones with a frequent phrase, and all with a rare phrase.

        Also return the oldest chunk that was compared with the frequent phrases; 0 if all were.
        """
        ...

    def beside(self, phrase: str, rare: Sequence[str], leading: Sequence[str], oldest: int) -> Postings:
        """Return the chunks that contain a phrase and a rare one, or, from the oldest, the leading one; each once."""
        ...

    def among(self, phrase: str, numbers: Collection[int]) -> Postings:
        """Return those of the chunks that contain a phrase, each once."""
        ...

    def first(self, phrase: str, start: int, end: int, most: int) -> tuple[int, int]:
        """Count the oldest chunks of a range with a phrase, up to `most`, and return the count and the last of them."""
        ...

    def last(self, phrase: str, most: int) -> tuple[int, int]:
        """Count the newest chunks with a phrase, up to `most`, and return the count and the oldest of them."""
        ...
