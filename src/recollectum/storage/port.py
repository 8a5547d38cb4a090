"""Defines what the rest of Recollectum asks of a database: transactions, rows and a full-text index."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from recollectum.text.terms.analyser import Phrase

T = TypeVar("T")
Value = None | int | float | str | bytes
Params = Mapping[str, Value]
#: A row, in the order of the statement's columns; each table's `_from_row` gives the columns their types.
Row = tuple[Any, ...]


class TextIndex(Protocol):
    """Full text: the one part whose SQL differs between backends."""

    def add(self, entries: Iterable[tuple[int, str]]) -> None:
        """Index the terms of each numbered chunk."""
        ...

    def remove(self, numbers: Iterable[int]) -> None:
        """Drop those chunks from the index."""
        ...

    def matches(self, phrases: Sequence[Phrase], *, whole: bool = False) -> "Matches":
        """The chunks with any of the phrases; of many, only what may be among the best, in a time that is bounded.

        With `whole` they are all of them, however long it takes.
        """
        ...

    def scrub(self) -> None:
        """Leave no term of a removed chunk in the index's own pages."""
        ...

    def count(self) -> int:
        """How many chunks are indexed."""
        ...


class Matches(Protocol):
    """Chunks that match some phrases, each with its BM25."""

    @property
    def whole(self) -> bool:
        """Whether they are all that match, and not only those that may be among the best."""
        ...

    def __len__(self) -> int:
        """How many there are."""
        ...

    def best(self, most: int) -> list[int]:
        """The numbers of the best, best first, ties to the newer."""
        ...

    def scores(self, numbers: Sequence[int]) -> dict[int, float]:
        """The score of each of these chunks that is among them."""
        ...


class Tx(Protocol):
    """One open transaction."""

    @property
    def text(self) -> TextIndex:
        """The full-text index, in this transaction."""
        ...

    @property
    def state(self) -> Hashable:
        """Equal in two reads only when nothing was committed between them; unequal values say nothing."""
        ...

    def rows(self, sql: str, params: Params) -> list[Row]:
        """Run a statement and fetch what it returns."""
        ...

    def run(self, sql: str, params: Params) -> int:
        """Run a statement; the number of rows it changed."""
        ...


class Database(Protocol):
    """One vault or catalog: many readers, one writer."""

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one snapshot."""
        ...

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction; `frees` says that it makes room on a full disk."""
        ...

    def erase_remains(self) -> bool:
        """Overwrite what deleted rows left behind; False while a reader still holds an old snapshot."""
        ...

    def close(self) -> None:
        """Close every connection; calling it again does nothing."""
        ...
