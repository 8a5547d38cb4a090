"""The full-text index of one connection: adds and removes chunks, and finds those with the phrases of a question."""

from collections.abc import Collection, Iterable, Sequence
from typing import cast

import apsw

from recollectum.storage.full_text.bm25 import CorpusSize, score_bm25
from recollectum.storage.full_text.candidates import choose_lists
from recollectum.storage.full_text.tokenizer import TOKENIZER, stems_of
from recollectum.storage.port import Matches
from recollectum.storage.sqlite.full_text.document_lengths import DocumentLengths
from recollectum.storage.sqlite.full_text.posting_reader import PostingReader, fetch, quoted
from recollectum.text.terms.analyser import Phrase

_ADD = "INSERT INTO search (rowid, terms) VALUES (?, ?)"
_REMOVE = "DELETE FROM search WHERE rowid = ?"
# FTS5 stores the list of segments in this row.
_STRUCTURE = "SELECT block FROM search_data WHERE id = 10"
_NEWER_FORMAT = b"\xff\0\0\1"
#: So many segments of about the same size are merged, the fewest that can be. FTS5 keeps the setting in the file.
_SEGMENTS = 2
_MERGED_FROM = "SELECT v FROM search_config WHERE k = 'usermerge'"
_MERGE_FROM = "INSERT INTO search (search, rank) VALUES ('usermerge', ?)"
_MERGE = "INSERT INTO search (search, rank) VALUES ('merge', ?)"


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

    @property
    def parts(self) -> int:
        """Return how many segments the index has: a term is sought in each of them."""
        block = fetch(self._connection, _STRUCTURE, ())[0][0]
        # After a cookie, and a mark of the newer format, come the number of levels and that of segments.
        _, rest = _number(block[8:] if block[4:8] == _NEWER_FORMAT else block[4:])
        return _number(rest)[0]

    def scrub(self, *, pages: int | None = None) -> bool:
        """Merge the index into one segment, because deleted terms stay in it until then.

        With `pages` write about so many pages of larger segments, and return whether that did anything.
        """
        if pages is None:
            self._connection.execute("INSERT INTO search (search) VALUES ('optimize')").fetchall()
            return False
        if fetch(self._connection, _MERGED_FROM, ()) != [(_SEGMENTS,)]:
            self._connection.execute(_MERGE_FROM, (_SEGMENTS,))
        before = self._connection.total_changes()
        self._connection.execute(_MERGE, (pages,))
        # As FTS5 documents it: a command that merges nothing is one change.
        return self._connection.total_changes() - before > 1

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
