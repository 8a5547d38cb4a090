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
from recollectum.text.terms.match_plan import SMALL, MatchPlan, budget, plan_match

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
      WITH met AS MATERIALIZED (
           SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
    SELECT json_group_array(number), (SELECT CASE count(*) WHEN ? THEN min(number) ELSE 0 END FROM met)
      FROM (SELECT number FROM (SELECT rowid AS number FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?)
             UNION SELECT rowid FROM search WHERE search MATCH ?
             UNION SELECT number FROM met)
"""
_BESIDE = """
    SELECT json_group_array(number)
      FROM (SELECT rowid AS number FROM search WHERE search MATCH ?
             UNION SELECT rowid FROM search WHERE search MATCH ? AND rowid >= ?)
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


def _match_both(phrase: str, others: Sequence[str]) -> str:
    """Return a MATCH expression for the phrase with any of the others; without others it matches nothing."""
    return f"{phrase} AND ({match_any(others)})" if others else '""'


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

    def newest(self, phrase: str, most: int, rare: Sequence[str], frequent: Sequence[str]) -> tuple[str, int]:
        """Return the newest chunks with a phrase, its newest ones with a frequent phrase, and all with a rare phrase.

        Also return the oldest chunk that was compared with the frequent phrases; 0 if all were.
        """
        met, both = _match_both(phrase, frequent), _match_both(phrase, rare)
        return fetch(self._connection, _NEWEST, (met, most, most, phrase, most, both))[0]

    def beside(self, phrase: str, rare: Sequence[str], leading: Sequence[str], oldest: int) -> str:
        """Return the chunks that contain a phrase and a rare one, or, from the oldest, the leading one; each once."""
        if not leading:
            return self._one(_OF_PHRASE, _match_both(phrase, rare))
        return self._one(_BESIDE, _match_both(phrase, rare), _match_both(phrase, leading), oldest)

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
#: How many times the lists of rare phrases are read: again if the first plan took a frequent phrase for rare.
_PLANS = 2


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
        candidates = Candidates(lists, phrases, highest)
        plan, counts = candidates.plan, candidates.counts
        for phrase in plan.alone:
            yield PostingList(candidates.read[phrase], None, phrases[phrase])
        oldest = 0
        for phrase in plan.leading:
            newest, oldest = lists.newest(phrase, budget(highest), plan.alone, plan.beside)
            yield PostingList(newest, counts[phrase], phrases[phrase])
        for phrase in plan.beside:
            listed = lists.beside(phrase, plan.alone, plan.leading, oldest)
            yield PostingList(listed, counts[phrase], phrases[phrase])


class Candidates:
    """The phrases of one question in a large index: how frequent each is, and the posting lists of the rare ones.

    A frequency is estimated from the oldest and the newest postings. The list of a phrase that is more frequent
    elsewhere is longer than the plan expects. So a list is read up to a limit; if it is longer, the phrase counts as
    frequent, and the plan is made again.
    """

    def __init__(self, lists: PostingReader, phrases: Iterable[str], highest: int) -> None:
        self._lists = lists
        self._highest = highest
        self._budget = budget(highest)
        some = lists.some(phrases, _SAMPLE)
        #: The complete posting lists.
        self.read = {phrase: listed for phrase, listed in some.items() if _length(listed) < _SAMPLE}
        self.counts = {phrase: self._estimate(phrase, listed) for phrase, listed in some.items()}
        self.plan = self._read_rare()

    def _estimate(self, phrase: str, listed: str) -> int:
        """Estimate how many chunks contain a phrase, from how soon enough of them are found."""
        if phrase in self.read:
            return _length(listed)
        numbers: list[int] = json.loads(listed)
        count = len(set(numbers)) * self._highest // numbers[-1]
        # A phrase that was frequent in the oldest chunks may be rare since.
        return count if count <= self._budget else min(count, int(self._newest_share(phrase) * self._highest))

    def _newest_share(self, phrase: str) -> float:
        """Return the share of the newest chunks that contain a phrase."""
        count, oldest = self._lists.last(phrase, _SAMPLE)
        return count / max(1, self._highest - oldest)

    def _read_rare(self) -> MatchPlan:
        """Read the lists of the phrases that are ranked alone, and return the plan that they fit."""
        for _ in range(_PLANS):
            plan = plan_match(self.counts, self._highest)
            unread = [phrase for phrase in plan.alone if phrase not in self.read]
            if not unread:
                return plan
            # A chunk may contain a phrase several times. All limits together are at most six times the budget.
            share = 2 * self._budget // len(unread)
            limits = {phrase: max(share, 4 * self.counts[phrase]) for phrase in unread}
            for most in set(limits.values()):
                for phrase, listed in self._lists.some((one for one in unread if limits[one] == most), most).items():
                    if _length(listed) < most:
                        self.read[phrase] = listed
                    else:
                        self.counts[phrase] = self._estimate_again(phrase, listed)
        known = {phrase: self._at_least(phrase, count) for phrase, count in self.counts.items()}
        return plan_match(known, self._highest)

    def _estimate_again(self, phrase: str, listed: str) -> int:
        """Estimate the frequency of a phrase whose list was cut: in the chunks that were read, and in those after."""
        numbers: list[int] = json.loads(listed)
        later = int(self._newest_share(phrase) * (self._highest - numbers[-1]))
        return max(self._budget + 1, len(set(numbers)) + later)

    def _at_least(self, phrase: str, count: int) -> int:
        """Return the frequency, or one over the budget if the list is not read: the plan must not rank it alone."""
        return count if phrase in self.read else max(self._budget + 1, count)


def _length(listed: str) -> int:
    """Return the number of postings in a JSON list."""
    return 0 if listed == "[]" else listed.count(",") + 1


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
