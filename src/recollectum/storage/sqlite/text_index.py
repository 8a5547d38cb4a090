"""Full-text index on FTS5: posting lists, document lengths, and narrowing before BM25 ranks."""

import json
import sys
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast
from weakref import WeakKeyDictionary

import apsw

from recollectum.storage.port import Matches, Row
from recollectum.storage.sqlite.bm25 import CorpusSize, PostingList, score_bm25
from recollectum.text.terms.analyser import Phrase
from recollectum.text.terms.match_plan import SMALL, budget, plan_match

#: The tokenizer of the index, as its migration declares it; queries must use the same.
_TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])
NO_LIMIT: Final = -1
#: A temporary table of each connection; it stores no rows.
_OCCURRENCES = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.occurrences USING fts5vocab (main, search, instance)"
_OF_PHRASE = "SELECT json_group_array(rowid) FROM search WHERE search MATCH ?"
_SOME_OF_TERMS = """
    SELECT (SELECT json_group_array(doc) FROM (SELECT doc FROM temp.occurrences WHERE term = one.value LIMIT ?))
      FROM json_each(?) AS one
"""
_SOME_OF_PHRASE = """
    SELECT json_group_array(number) FROM (SELECT rowid AS number FROM search WHERE search MATCH ? LIMIT ?)
"""
_NEWEST = """
    SELECT json_group_array(number)
      FROM (SELECT number FROM (SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
             UNION SELECT rowid FROM search WHERE search MATCH ?)
"""
_LAST = """
    SELECT count(*), min(number)
      FROM (SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
"""


def quoted(phrase: Phrase) -> str:
    """Return a phrase quoted for FTS5, whatever punctuation is in its words."""
    words = '"' + phrase.words.replace('"', '""') + '"'
    return f"{words} *" if phrase.prefix else words


def match_any(phrases: Iterable[str]) -> str:
    """Return a MATCH expression for any of the quoted phrases."""
    return " OR ".join(phrases)


def create_vocabulary(connection: apsw.Connection, *, query_only: bool) -> None:
    """Create the vocabulary table of a connection; call it before the connection is used."""
    if query_only:
        connection.pragma("query_only", "off")
    connection.execute(_OCCURRENCES)
    if query_only:
        connection.pragma("query_only", "on")


def has_text_index(connection: apsw.Connection) -> bool:
    """Return whether the database has a text index: a vault does, a catalog does not."""
    return bool(fetch(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'search'", ()))


def fetch(connection: apsw.Connection, sql: str, params: Sequence[int | str]) -> list[Row]:
    """Run a statement, and return its rows."""
    return cast(list[Row], connection.execute(sql, params).fetchall())


class PostingReader:
    """The posting lists of one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._tokenize = connection.fts5_tokenizer(*_TOKENIZER)

    def some(self, phrases: Iterable[str], most: int) -> dict[str, str]:
        """Return the first `most` postings of each phrase, or all."""
        terms = {phrase: self._term(phrase) for phrase in phrases}
        single = [phrase for phrase, term in terms.items() if term is not None]
        listed = json.dumps([terms[phrase] for phrase in single])
        rows = fetch(self._connection, _SOME_OF_TERMS, (most, listed)) if single else []
        found = {phrase: cast(str, row[0]) for phrase, row in zip(single, rows, strict=True)}
        return {
            phrase: found[phrase] if term is not None else self._one(_SOME_OF_PHRASE, phrase, most)
            for phrase, term in terms.items()
        }

    def beside(self, phrase: str, others: Sequence[str]) -> str:
        """Return the chunks that contain a phrase and one of some others, each once."""
        return self._one(_OF_PHRASE, f"{phrase} AND ({match_any(others)})")

    def newest(self, phrase: str, most: int, others: Sequence[str]) -> str:
        """Return the newest chunks with a phrase, and all chunks that contain it and one of the others, each once."""
        both = f"{phrase} AND ({match_any(others)})" if others else '""'
        return self._one(_NEWEST, phrase, most, both)

    def last(self, phrase: str, most: int) -> tuple[int, int]:
        """Count the newest chunks with a phrase, up to `most`, and return the count and the oldest of them."""
        count, oldest = fetch(self._connection, _LAST, (phrase, most))[0]
        return count, oldest or 0

    def _one(self, sql: str, *params: int | str) -> str:
        return fetch(self._connection, sql, params)[0][0]

    def _term(self, phrase: str) -> str | None:
        """Return the term if a phrase is a single one; None for several terms or a prefix."""
        if phrase.endswith("*"):
            return None
        found = cast(
            list[tuple[str]],
            self._tokenize(phrase.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False),
        )
        return found[0][0] if len(found) == 1 else None


#: Lengths per read, so that the hex texts they arrive in stay small beside the stored array.
_PAGE = 8_192
_LEAST_ROOM = 1024
# FTS5 stores a length as a varint of one to three bytes with seven bits each. Two bytes are enough for ranking: a
# longer length counts as the longest that fits.
_AFTER = """
    SELECT json_group_array(id), group_concat(CASE length(sz) WHEN 1 THEN '00' || hex(sz) WHEN 2 THEN hex(sz)
           ELSE 'FF7F' END, '')
      FROM (SELECT id, sz FROM search_docsize WHERE id > ? ORDER BY id LIMIT ?)
"""
# FTS5 stores the size of the index in this row: the number of chunks, then the number of terms.
_SIZE = "SELECT (SELECT block FROM search_data WHERE id = 1), (SELECT max(id) FROM search_docsize)"


class DocumentLengths:
    """The lengths of the chunks of one file, by number, packed as FTS5 packs them, seven bits in a byte.

    A chunk number is never reused, so a length that was read stays true. Only a chunk that is indexed again under other
    terms keeps its old length, which shifts its score a little until the file is opened again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._packed = array("H", bytes(2 * _LEAST_ROOM))
        #: The size of the index that each connection read last, and the version of the data it is true for.
        self._sizes: WeakKeyDictionary[apsw.Connection, tuple[int, Row]] = WeakKeyDictionary()

    def size(self, connection: apsw.Connection) -> Row:
        """Return the block with the size of the index, and the highest number; read again only after a commit."""
        if connection.txn_state("main") != apsw.SQLITE_TXN_READ:
            # What this transaction has written has no version yet.
            return fetch(connection, _SIZE, ())[0]
        version, known = connection.data_version("main"), self._sizes.get(connection)
        if known is None or known[0] != version:
            known = self._sizes[connection] = version, fetch(connection, _SIZE, ())[0]
        return known[1]

    def upto(self, connection: apsw.Connection, highest: int) -> "array[int]":
        """Return the packed length of every chunk up to a number; 0 for a missing chunk."""
        with self._lock:
            while self._last < highest and self._load(connection):
                pass
            return self._packed

    def _load(self, connection: apsw.Connection) -> bool:
        """Read the next page of lengths; return False when there is none."""
        listed, packed = fetch(connection, _AFTER, (self._last, _PAGE))[0]
        numbers: list[int] = json.loads(listed)
        if not numbers:
            return False
        found = array("H", bytes.fromhex(packed))
        if sys.byteorder == "little":
            found.byteswap()
        if numbers[-1] >= len(self._packed):
            self._packed = self._grown(numbers[-1])
        if numbers[-1] - numbers[0] + 1 == len(numbers):
            self._packed[numbers[0] : numbers[-1] + 1] = found
        else:
            for number, length in zip(numbers, found, strict=True):
                self._packed[number] = length
        self._last = numbers[-1]
        return True

    def _grown(self, last: int) -> "array[int]":
        """Return a longer copy of the array; other threads may go on reading the old one."""
        room = last + 1 + max(_LEAST_ROOM, last // 8)
        return self._packed + array("H", bytes(2 * (room - len(self._packed))))


_ADD = "INSERT INTO search (rowid, terms) VALUES (?, ?)"
_REMOVE = "DELETE FROM search WHERE rowid = ?"
#: This many postings are enough to estimate how frequent a phrase is; counting all takes time linear in their number.
_SAMPLE = 120


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

    def matches(self, phrases: Sequence[Phrase], *, whole: bool = False) -> Matches:
        """Return the chunks that contain any of the phrases; in a large index only candidates for the best."""
        block, highest = self._lengths.size(self._connection)
        if not phrases or highest is None:
            return score_bm25((), self._lengths.upto(self._connection, 0), CorpusSize(0, 0), whole=True)
        packed = self._lengths.upto(self._connection, highest)
        whole = whole or highest <= SMALL
        lists = self._lists({quoted(phrase): phrase for phrase in phrases}, highest, whole=whole)
        return score_bm25(lists, packed, _size(block), whole=whole)

    def stems(self, texts: Iterable[str]) -> list[str]:
        """Return the words of each text as the index stores them, separated by spaces."""
        tokenize = self._connection.fts5_tokenizer(*_TOKENIZER)
        found = (
            cast(
                list[tuple[str]],
                tokenize(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False),
            )
            for text in texts
        )
        return [" ".join([word for (word,) in words]) for words in found]

    def scrub(self) -> None:
        """Merge the index into one segment, because deleted terms stay in it until then."""
        self._connection.execute("INSERT INTO search (search) VALUES ('optimize')").fetchall()

    def count(self) -> int:
        """Return the number of indexed chunks."""
        rows = cast(list[tuple[int]], self._connection.execute("SELECT count(*) FROM search").fetchall())
        return rows[0][0]

    def _lists(self, phrases: Mapping[str, Phrase], highest: int, *, whole: bool) -> Iterator[PostingList]:
        lists = PostingReader(self._connection)
        if whole:
            for phrase, listed in lists.some(phrases, NO_LIMIT).items():
                yield PostingList(listed, None, phrases[phrase])
            return
        some = lists.some(phrases, _SAMPLE)
        counts = self._frequencies(lists, some, highest)
        plan = plan_match(counts, highest)
        rest = lists.some([phrase for phrase in plan.alone if not _is_all(some[phrase])], NO_LIMIT)
        for phrase in plan.alone:
            yield PostingList(rest.get(phrase, some[phrase]), None, phrases[phrase])
        for phrase in plan.leading:
            newest = lists.newest(phrase, budget(highest), (*plan.alone, *plan.beside))
            yield PostingList(newest, counts[phrase], phrases[phrase])
        for phrase in plan.beside:
            yield PostingList(lists.beside(phrase, (*plan.alone, *plan.leading)), counts[phrase], phrases[phrase])

    def _frequencies(self, lists: PostingReader, some: Mapping[str, str], highest: int) -> dict[str, int]:
        """Estimate how many chunks contain each phrase, from how soon enough of them are found."""
        counts: dict[str, int] = {}
        for phrase, listed in some.items():
            counts[phrase] = 0 if listed == "[]" else listed.count(",") + 1
            if not _is_all(listed):
                numbers: list[int] = json.loads(listed)
                count = len(set(numbers)) * highest // numbers[-1]
                if count > budget(highest):
                    # A phrase that was frequent in the oldest chunks may be rare since.
                    newest, oldest = lists.last(phrase, _SAMPLE)
                    count = min(count, newest * highest // max(1, highest - oldest))
                counts[phrase] = count
        return counts


def _is_all(some: str) -> bool:
    """Return whether a sample is complete, because it was not filled."""
    return some.count(",") < _SAMPLE - 1


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
