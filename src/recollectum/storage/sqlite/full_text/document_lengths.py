"""Keeps the length of every indexed chunk in memory, read from FTS5's tables, and the size of the index."""

import json
import sys
import threading
from array import array
from contextlib import nullcontext
from weakref import WeakKeyDictionary

import apsw

from recollectum.storage.port import Row
from recollectum.storage.sqlite.connection import reading_once
from recollectum.storage.sqlite.full_text.posting_reader import fetch

#: Lengths per read, so that what they arrive in stays small beside the stored array.
_PAGE = 16_384
_LEAST_ROOM = 1024
# FTS5 stores a length as a varint of one to three bytes with seven bits each. Two bytes are enough for ranking: a
# longer length counts as the longest that fits. group_concat joins bytes as they are.
_AFTER = """
    SELECT count(*), min(id), max(id),
           CAST(group_concat(CASE length(sz) WHEN 1 THEN x'00' || sz WHEN 2 THEN sz ELSE x'FF7F' END, '') AS BLOB)
      FROM (SELECT id, sz FROM search_docsize WHERE id > ? ORDER BY id LIMIT ?)
"""
_NUMBERS_AFTER = "SELECT json_group_array(id) FROM (SELECT id FROM search_docsize WHERE id > ? ORDER BY id LIMIT ?)"
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

    @property
    def held_bytes(self) -> int:
        """Return how many bytes the lengths take."""
        return 2 * len(self._packed)

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
            with reading_once(connection) if highest - self._last > _PAGE else nullcontext():
                while self._last < highest and self._load(connection):
                    pass
            return self._packed

    def _load(self, connection: apsw.Connection) -> bool:
        """Read the next page of lengths; return False when there is none."""
        count, first, last, packed = fetch(connection, _AFTER, (self._last, _PAGE))[0]
        if not count:
            return False
        found = array("H", packed)
        if sys.byteorder == "little":
            found.byteswap()
        if last >= len(self._packed):
            self._packed = self._grown(last)
        if last - first + 1 == count:
            self._packed[first : last + 1] = found
        else:
            numbers: list[int] = json.loads(fetch(connection, _NUMBERS_AFTER, (self._last, _PAGE))[0][0])
            for number, length in zip(numbers, found, strict=True):
                self._packed[number] = length
        self._last = last
        return True

    def _grown(self, last: int) -> "array[int]":
        """Return a longer copy of the array; other threads may go on reading the old one."""
        room = last + 1 + max(_LEAST_ROOM, last // 8)
        return self._packed + array("H", bytes(2 * (room - len(self._packed))))
