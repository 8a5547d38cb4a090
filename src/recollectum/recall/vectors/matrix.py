"""Holds the quantised vectors of one generation in memory, current with the vault."""

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from recollectum.recall.vectors import ivf
from recollectum.recall.vectors.ivf import IvfCells
from recollectum.recall.vectors.quantisation import (
    are_valid_rows,
    known_lengths,
    low_bits_size,
    unpack_joined,
    unpack_rows,
)
from recollectum.recall.vectors.scan import SIGN_SCAN_MINIMUM, ScanResult, VectorBlock, byte_lengths, scan_nearest
from recollectum.recall.vectors.sign_bits import SignBits, can_count_bits, no_bits
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import vectors
from recollectum.storage.tables.index.generations import Generation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

#: At most this many vectors are scanned for a question; if there are more, only the cells nearest to it are.
EXHAUSTIVE_SCAN_LIMIT: Final = 250_000
#: Sign bits are made from this question on: a process that asks only a few would lose more time than it gains.
SIGN_BITS_AFTER: Final = 8
#: With more vectors than this, scanning the sign bits of all takes longer than scanning the nearest cells.
_MOST_SIGNED = 2_000_000
#: One deleted row in this many may stay in memory before all rows are loaded again.
_STALE_SHARE = 10
_LEAST_ROOM = 1024


class VectorMatrix:
    """The vectors of one generation, kept current with the writes of other processes."""

    def __init__(
        self,
        generation: int,
        dimensions: int,
        *,
        scanned: int = EXHAUSTIVE_SCAN_LIMIT,
        signed: int = SIGN_SCAN_MINIMUM,
    ) -> None:
        self.generation = generation
        self.dimensions = dimensions
        self._scanned = scanned
        #: From this many rows on, sign bits are made.
        self._signed = signed
        self._questions = 0
        self._lock = threading.Lock()
        #: How many loaded rows were deleted since; which ones is not known.
        self.stale = 0
        #: Whether there are so many vectors that `coarse.step` has work to do.
        self.wants_lists = False
        self._clear()

    def __len__(self) -> int:
        """Return the number of loaded vectors."""
        return self._count

    @property
    def held_bytes(self) -> int:
        """Return the memory of the vectors and their cells, in bytes."""
        arrays = sum(one.nbytes for one in (self._rows, self._low, self._inverse, self._numbers))
        return arrays + sum(one.held_bytes for one in (self._lists, self._signs) if one)

    def refresh(self, tx: Tx, generation: Generation) -> None:
        """Load the rows written since the last time, or all rows if many were deleted or assigned to cells."""
        with self._lock:
            if (generation.removed - self._removed) * _STALE_SHARE > max(self._count, _LEAST_ROOM):
                self._clear()
            if not self._count and generation.done > self._scanned < ivf.expected_size(tx, generation):
                # The rows go to their cells at once: to load them twice would take seconds.
                self._lists = ivf.load_cells(tx, self.generation, self.dimensions)
            self._load(tx, generation)
            if self._regroup(tx, generation):
                self._clear()
                self._lists = ivf.load_cells(tx, self.generation, self.dimensions)
                self._load(tx, generation)
            self.stale = generation.removed - self._removed

    def near(self, query: "NDArray[np.float32]", scanned: int | None = None) -> ScanResult:
        """Scan the rows for a query, and return the result."""
        with self._lock:
            count = self._count
            block = VectorBlock(
                self._rows[:count],
                self._low[:count],
                self._inverse[:count],
                self._numbers[:count],
                self._lists,
                None if scanned else self._sign_bits(),
            )
        return scan_nearest(block, query, scanned or self._scanned)

    def _sign_bits(self) -> SignBits | None:
        """Return the sign bits of all rows, or None; each question makes those of some rows, until all have them."""
        self._questions += 1
        if (
            self._questions <= SIGN_BITS_AFTER
            or not self._signed <= self._count <= _MOST_SIGNED
            or not can_count_bits()
        ):
            return None
        rows = self._rows[: self._count]
        signs = self._signs or no_bits(rows, self._inverse[: self._count])
        if signs.count < self._count:
            signs = signs.extended(rows, len(self._numbers))
        self._signs = signs
        return signs if signs.count == self._count else None

    def _clear(self) -> None:
        import numpy as np  # noqa: PLC0415

        self._count, self._last, self._removed = 0, 0, 0
        self._lists: IvfCells | None = None
        self._signs: SignBits | None = None
        self._rows = np.zeros((0, self.dimensions), np.int8)
        self._low = np.zeros((0, low_bits_size(self.dimensions)), np.uint8)
        self._inverse = np.zeros(0, np.float32)
        self._numbers = np.zeros(0, np.int64)

    def _regroup(self, tx: Tx, generation: Generation) -> bool:
        """Return whether to lay out the rows by cells: once nearly all have one, and again when many were added."""
        self.wants_lists = False
        if self._count <= self._scanned:
            return False
        standing = ivf.ivf_status(tx, generation, self._count)
        self.wants_lists = standing.wanting
        loose = self._count - (self._lists.grouped if self._lists else 0)
        return standing.usable and loose * 4 > self._count

    def _load(self, tx: Tx, generation: Generation) -> None:
        """Load the rows after the last one, a page at a time."""
        if self._count == 0:
            self._removed = generation.removed
        elif self._last >= generation.done:
            return
        # Reserve room for the most there can be; memory that is never written is never allocated.
        self._make_room(max(0, generation.done - self._last))
        if self._last == 0 and self._lists:
            self._count = self._lists.grouped
        # All vectors are as many pages as the cache has, or more: they must not evict what the next questions read.
        with tx.reading_once() if self._last == 0 else nullcontext():
            while self._load_page(tx) == tx.page_rows:
                pass

    def _load_page(self, tx: Tx) -> int:
        """Load the next page of rows, and return how many it has."""
        import numpy as np  # noqa: PLC0415

        joined = vectors.joined_after(tx, self.generation, self._last, tx.page_rows)
        if joined and joined.size in known_lengths(self.dimensions):
            numbers = np.fromstring(joined.chunks, np.int64, sep=",")
            self._append(numbers, *unpack_joined(joined.data, len(numbers), self.dimensions))
            self._last = int(numbers[-1])
            return len(numbers)
        whole = page = vectors.after(tx, self.generation, self._last, tx.page_rows)
        if not are_valid_rows([row[1] for row in page], self.dimensions):
            # A row of another length is damaged: it is skipped, and its chunk is found by its words.
            whole = [row for row in page if are_valid_rows(row[1:], self.dimensions)]
        if whole:
            chunks, data = zip(*whole, strict=True)
            self._append(np.array(chunks, np.int64), *unpack_rows(data, self.dimensions))
        if page:
            self._last = page[-1][0]
        return len(page)

    def _append(self, numbers: "Numbers", rows: "NDArray[np.int8]", low: "NDArray[np.uint8]") -> None:
        self._make_room(len(numbers))
        places = self._new_places(numbers)
        self._rows[places], self._low[places] = rows, low
        self._inverse[places], self._numbers[places] = 1 / byte_lengths(rows), numbers

    def _new_places(self, numbers: "Numbers") -> "Numbers | slice":
        """Return the places of new rows: in their cell, or at the end."""
        import numpy as np  # noqa: PLC0415

        if self._lists is None:
            self._count += len(numbers)
            return slice(self._count - len(numbers), self._count)
        places = self._lists.place(numbers)
        loose = np.flatnonzero(places < 0)
        places[loose] = np.arange(self._count, self._count + len(loose))
        self._count += len(loose)
        return places

    def _make_room(self, more: int) -> None:
        import numpy as np  # noqa: PLC0415

        need, count = self._count + more, self._count
        if need <= len(self._numbers):
            return
        # Reserve a sixteenth more: writes come one by one, and memory must stay near the size of the vectors.
        room = max(_LEAST_ROOM, need + need // 16)
        for name in ("_rows", "_low", "_inverse", "_numbers"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), old.dtype)
            new[:count] = old[:count]
            setattr(self, name, new)
