"""Full text in SQLite: an FTS5 table that keeps terms and no text."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import apsw

from recollectum.storage.port import Matches
from recollectum.storage.sqlite.text_lengths import Lengths
from recollectum.storage.sqlite.text_lists import NO_LIMIT, TextLists, fetch
from recollectum.storage.sqlite.text_scores import Listed, Size, ranked
from recollectum.text.narrowing import SMALL, budget, narrowed

_ADD = "INSERT INTO search (rowid, terms) VALUES (?, ?)"
_REMOVE = "DELETE FROM search WHERE rowid = ?"
# FTS5 keeps how much it has under this number: how many chunks, then how many terms.
_SIZE = "SELECT (SELECT block FROM search_data WHERE id = 1), (SELECT max(id) FROM search_docsize)"
#: So many places say how frequent a phrase is; counting all of them would take as long as they are many.
_SAMPLE = 120


class SqliteTextIndex:
    """The `search` table of one connection; its row numbers are chunk numbers."""

    def __init__(self, connection: apsw.Connection, lengths: Lengths) -> None:
        self._connection = connection
        self._lengths = lengths

    def add(self, entries: Iterable[tuple[int, str]]) -> None:
        """Index the terms of each numbered chunk."""
        self._connection.executemany(_ADD, entries)

    def remove(self, numbers: Iterable[int]) -> None:
        """Drop those chunks from the index."""
        for number in numbers:
            self._connection.execute(_REMOVE, (number,))

    def matches(self, phrases: Sequence[str], *, whole: bool = False) -> Matches:
        """The chunks with any of the phrases: in a large index, `whole` or not, those that may be among the best."""
        block, highest = fetch(self._connection, _SIZE, ())[0]
        if not phrases or highest is None:
            return ranked((), self._lengths.upto(self._connection, 0), Size(0, 0))
        packed = self._lengths.upto(self._connection, highest)
        return ranked(self._lists(list(dict.fromkeys(phrases)), highest, whole=whole), packed, _size(block))

    def scrub(self) -> None:
        """Merge the index into one piece: deleted terms stay in it until then."""
        self._connection.execute("INSERT INTO search (search) VALUES ('optimize')").fetchall()

    def count(self) -> int:
        """How many chunks are indexed."""
        rows = cast(list[tuple[int]], self._connection.execute("SELECT count(*) FROM search").fetchall())
        return rows[0][0]

    def _lists(self, phrases: Sequence[str], highest: int, *, whole: bool) -> Iterator[Listed]:
        lists = TextLists(self._connection)
        if whole or highest <= SMALL:
            yield from map(Listed, lists.some(phrases, NO_LIMIT).values())
            return
        some = lists.some(phrases, _SAMPLE)
        counts = self._frequencies(lists, some, highest)
        plan = narrowed(counts, highest)
        rest = lists.some([phrase for phrase in plan.alone if not _is_all(some[phrase])], NO_LIMIT)
        for phrase in plan.alone:
            yield Listed(rest.get(phrase, some[phrase]))
        for phrase in plan.leading:
            yield Listed(lists.newest(phrase, budget(highest), (*plan.alone, *plan.beside)), counts[phrase])
        for phrase in plan.beside:
            yield Listed(lists.beside(phrase, (*plan.alone, *plan.leading)), counts[phrase])

    def _frequencies(self, lists: TextLists, some: Mapping[str, str], highest: int) -> dict[str, int]:
        """About how many chunks have each phrase, by how soon enough of them are met."""
        counts: dict[str, int] = {}
        for phrase, listed in some.items():
            counts[phrase] = 0 if listed == "[]" else listed.count(",") + 1
            if not _is_all(listed):
                numbers: list[int] = json.loads(listed)
                count = len(set(numbers)) * highest // numbers[-1]
                if count > budget(highest):
                    # What was much spoken of in the beginning may not have been since.
                    newest, oldest = lists.last(phrase, _SAMPLE)
                    count = min(count, newest * highest // max(1, highest - oldest))
                counts[phrase] = count
        return counts


def _is_all(some: str) -> bool:
    """Whether a sample is all there is: it was not filled."""
    return some.count(",") < _SAMPLE - 1


def _size(block: bytes | None) -> Size:
    chunks, rest = _number(block or b"\0\0")
    return Size(chunks, _number(rest)[0])


def _number(data: bytes) -> tuple[int, bytes]:
    """The number that the data begin with, seven bits in each byte but the last, and what follows it."""
    value = 0
    for place, byte in enumerate(data):
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, data[place + 1 :]
    return value, b""
