"""Defines what ranking asks of the posting lists of an engine."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

NO_LIMIT: Final = -1


class PostingSource(Protocol):
    """The posting lists of one text index, each by the name that the engine gives a phrase.

    A list is a JSON list of chunk numbers in ascending order. A chunk is repeated once per occurrence of a single term,
    and listed once for several terms or a prefix.
    """

    def some(self, phrases: Iterable[str], most: int) -> dict[str, str]:
        """Return the first `most` postings of each phrase, or all."""
        ...

    def newest(self, phrase: str, most: int, rare: Sequence[str], frequent: Sequence[str]) -> tuple[str, int]:
        """Return the newest chunks with a phrase, its newest ones with a frequent phrase, and all with a rare phrase.

        Also return the oldest chunk that was compared with the frequent phrases; 0 if all were.
        """
        ...

    def beside(self, phrase: str, rare: Sequence[str], leading: Sequence[str], oldest: int) -> str:
        """Return the chunks that contain a phrase and a rare one, or, from the oldest, the leading one; each once."""
        ...

    def among(self, phrase: str, numbers: Collection[int]) -> str:
        """Return those of the chunks that contain a phrase, each once."""
        ...

    def first(self, phrase: str, start: int, end: int, most: int) -> tuple[int, int]:
        """Count the oldest chunks of a range with a phrase, up to `most`, and return the count and the last of them."""
        ...

    def last(self, phrase: str, most: int) -> tuple[int, int]:
        """Count the newest chunks with a phrase, up to `most`, and return the count and the oldest of them."""
        ...
