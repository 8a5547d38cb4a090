"""The full-text index of one connection: adds and removes chunks, and finds those with the phrases of a question."""

from collections.abc import Collection, Iterable, Sequence
from typing import cast

import apsw

from recollectum.storage.full_text.bm25 import CorpusSize, score_bm25
from recollectum.storage.full_text.candidates import choose_lists
from recollectum.storage.full_text.tokenizer import TOKENIZER, stems_of
from recollectum.storage.port import Matches
from recollectum.storage.sqlite.full_text.document_lengths import DocumentLengths
from recollectum.storage.sqlite.full_text.posting_reader import PostingReader, quoted
from recollectum.text.terms.analyser import Phrase

_ADD = "INSERT INTO search (rowid, terms) VALUES (?, ?)"
_REMOVE = "DELETE FROM search WHERE rowid = ?"


class SqliteTextIndex:
    """The `search` table of one connection; its row numbers are chunk numbers."""

    def __init__(self, connection: apsw.Connection, lengths: DocumentLengths) -> None:
        self._connection = connection
        self._lengths = lengths

    def add(self, entries: Iterable[tuple[int, str]]) -> None:
        """Index the terms of each numbered chunk."""
        self._connection.executemany(_ADD, entries)

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove these chunks from the index."""
        for number in numbers:
            self._connection.execute(_REMOVE, (number,))

    def matches(self, phrases: Sequence[Phrase], *, among: Collection[int] | None = None) -> Matches:
        """Return the chunks that contain any of the phrases; in a large index only candidates for the best.

        With `among` return at least all of these chunks that do.
        """
        block, highest = self._lengths.size(self._connection)
        if not phrases or highest is None:
            return score_bm25((), self._lengths.upto(self._connection, 0), CorpusSize(0, 0), whole=True)
        packed = self._lengths.upto(self._connection, highest)
        reader = PostingReader(self._connection)
        lists, whole = choose_lists(reader, {quoted(phrase): phrase for phrase in phrases}, highest, among)
        return score_bm25(lists, packed, _size(block), whole=whole)

    def stems(self, texts: Iterable[str]) -> list[str]:
        """Return the words of each text as the index stores them, separated by spaces."""
        return stems_of(self._connection.fts5_tokenizer(*TOKENIZER), texts)

    def scrub(self) -> None:
        """Merge the index into one segment, because deleted terms stay in it until then."""
        self._connection.execute("INSERT INTO search (search) VALUES ('optimize')").fetchall()

    def count(self) -> int:
        """Return the number of indexed chunks."""
        rows = cast(list[tuple[int]], self._connection.execute("SELECT count(*) FROM search").fetchall())
        return rows[0][0]


def _size(block: bytes | None) -> CorpusSize:
    chunks, rest = _number(block or b"\0\0")
    return CorpusSize(chunks, _number(rest)[0])


def _number(data: bytes) -> tuple[int, bytes]:
    """Return the varint that the data begin with, and the remaining bytes."""
    value = 0
    for place, byte in enumerate(data):
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, data[place + 1 :]
    return value, b""
