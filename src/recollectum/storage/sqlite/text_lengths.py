"""How many terms each indexed chunk has, read from the full-text index once and kept in two bytes a chunk."""

import json
import sys
import threading
from array import array

import apsw

from recollectum.storage.sqlite.text_lists import fetch

#: Read at once, so that the texts they come in stay small beside what is kept.
_PAGE = 8_192
_LEAST_ROOM = 1024
# FTS5 keeps a length as a number of one to three bytes with seven bits in each. Two are enough to rank by: what is
# longer than they can say counts as that long.
_AFTER = """
    SELECT json_group_array(id), group_concat(CASE length(sz) WHEN 1 THEN '00' || hex(sz) WHEN 2 THEN hex(sz)
           ELSE 'FF7F' END, '')
      FROM (SELECT id, sz FROM search_docsize WHERE id > ? ORDER BY id LIMIT ?)
"""


class Lengths:
    """The lengths of the chunks of one file, by number, in the order of FTS5's seven bits a byte.

    A chunk has its number for good, so that what was read stays true; only a chunk that is indexed anew under other
    terms keeps the length it had, which moves its score a little until the file is opened again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._packed = array("H", bytes(2 * _LEAST_ROOM))

    def upto(self, connection: apsw.Connection, highest: int) -> "array[int]":
        """The packed length of every chunk up to a number; 0 where there is none."""
        with self._lock:
            while self._last < highest and self._load(connection):
                pass
            return self._packed

    def _load(self, connection: apsw.Connection) -> bool:
        """Read the next page; False when there is none."""
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
        """The same with room for more: a new one, since whoever looks at the old one may go on."""
        room = last + 1 + max(_LEAST_ROOM, last // 8)
        return self._packed + array("H", bytes(2 * (room - len(self._packed))))
