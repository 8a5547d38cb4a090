"""Defines what the rest of Recollectum asks of a database: transactions, rows and a full-text index."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from recollectum.text.terms.analyser import Phrase

T = TypeVar("T")
Value = None | int | float | str | bytes
Params = Mapping[str, Value]
#: A row, in the order of the statement's columns; each table's `_from_row` gives the columns their types.
Row = tuple[Any, ...]


class TextIndex(Protocol):
    """The full-text index, the only part whose SQL differs between backends."""

    def add(self, entries: Iterable[tuple[int, str]]) -> None:
        """Index the terms of each numbered chunk."""
        ...

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove these chunks from the index."""
        ...

    def matches(self, phrases: Sequence[Phrase], *, among: Collection[int] | None = None) -> "Matches":
        """Return the chunks that contain any of the phrases; of many, only candidates for the best, in bounded time.

        With `among` return at least all of these chunks that contain one; of few chunks in bounded time.
        """
        ...

    def stems(self, texts: Iterable[str]) -> list[str]:
        """Return the words of each text as the index stores them, separated by spaces."""
        ...

    @property
    def parts(self) -> int:
        """Return in how many parts a word is sought: a write may add one, until they are merged."""
        ...

    def scrub(self, *, pages: int | None = None) -> bool:
        """Merge all parts of the index, so that the terms of deleted chunks are gone.

        With `pages` merge about so many pages of some parts, and return whether that did anything.
        """
        ...

    def count(self) -> int:
        """Return the number of indexed chunks."""
        ...


class Matches(Protocol):
    """Chunks that match some phrases, with their BM25 scores."""

    @property
    def whole(self) -> bool:
        """Return whether these are all matches, and not only candidates for the best."""
        ...

    @property
    def chunks(self) -> int:
        """The number of chunks in the index."""
        ...

    def frequency(self, phrase: Phrase) -> int:
        """Return in how many chunks one of the phrases is; an estimate in a large index."""
        ...

    def __len__(self) -> int:
        """Return the number of matches."""
        ...

    def best(self, most: int) -> list[int]:
        """Return the chunk numbers of the best matches, best first; the newer wins a tie."""
        ...

    def scores(self, numbers: Sequence[int]) -> dict[int, float]:
        """Return the scores of those of the given chunks that match."""
        ...


class StandIns(Protocol):
    """Replaces texts in columns that are not encrypted; a text stays itself where nothing can be read."""

    def hide(self, text: str) -> str:
        """Return the stand-in of a text; equal for equal texts."""
        ...

    def show(self, hidden: str) -> str:
        """Return the text that `hide` was given."""
        ...


class Tx(Protocol):
    """One open transaction."""

    @property
    def text(self) -> TextIndex:
        """Return the full-text index in this transaction."""
        ...

    @property
    def state(self) -> Hashable:
        """Return a value that is equal in two reads only if nothing was committed between them.

        Unequal values mean nothing. It costs no statement once the transaction has read something.
        """
        ...

    @property
    def from_replica(self) -> bool:
        """Return whether a replica answers, which may lack the last writes of other processes."""
        ...

    @property
    def page_rows(self) -> int:
        """Return how many rows to fetch at once where a whole table is read: more where each page is a round trip."""
        ...

    @property
    def has_seals(self) -> bool:
        """Return whether a checksum of each row is kept beside it; not where the server checks its pages."""
        ...

    @property
    def reads_texts(self) -> bool:
        """Return whether a statement can look into a text; not where texts are encrypted before they are sent.

        Such an engine compares texts for equality, in statements whose parameters have the type of the column.
        """
        ...

    def time(self, here: datetime) -> datetime:
        """Return the time that leases are measured by: the server's, or the given one where there is no server.

        The clocks of several hosts differ, so none of them can say when a lease of another one ends.
        """
        ...

    @property
    def stand_ins(self) -> "StandIns":
        """Return what replaces texts in columns that are not encrypted."""
        ...

    def rows(self, sql: str, params: Params) -> list[Row]:
        """Run a statement, and return its rows."""
        ...

    def kept_rows(self, table: str, sql: str, params: Params) -> list[Row]:
        """Return the rows of a statement that reads one small table, from memory where no process wrote to it since.

        The table is written by statements that name it first, and not by triggers.
        """
        ...

    def run(self, sql: str, params: Params) -> int:
        """Run a statement, and return the number of changed rows."""
        ...

    def add_rows(self, sql: str, rows: Sequence[Params]) -> list[Row]:
        """Run `INSERT … VALUES (…)` of one row for each of the rows, in order; where it pays, all in one statement.

        Return the rows of its RETURNING, in no special order. All parameters of the statement are inside VALUES.
        """
        ...

    def reading_once(self) -> AbstractContextManager[None]:
        """Keep no page in memory that is read from here on, because what was read is kept in another form."""
        ...


class Database(Protocol):
    """One vault or catalog: many readers, one writer."""

    @property
    def held_bytes(self) -> int:
        """Return how many bytes this process keeps in memory for the index, besides the caches of the database."""
        ...

    def read(self, work: Callable[[Tx], T], *, on_replica: bool = False) -> T:
        """Run `work` in one snapshot, of a replica if there is one that may answer.

        Its snapshot may lack the last writes of other processes, and none that this database has read or written. If it
        cannot answer, `work` runs again on the primary.
        """
        ...

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction; `frees` means that it frees space on a full disk."""
        ...

    def claim(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one durable transaction, in the catalog beside other writers: it locks the rows it takes."""
        ...

    def erase_remains(self) -> bool:
        """Overwrite the remains of deleted rows; return False while a reader holds an old snapshot."""
        ...

    def close(self) -> None:
        """Close every connection; calling it again does nothing."""
        ...
