"""A generation's vectors in memory, one contiguous block of signed bytes, searched exactly."""

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.storage.port import Tx
from recollect.storage.tables import vectors
from recollect.storage.tables.generations import Generation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float32]

#: Rows that were taken out elsewhere and may stay here before everything is loaded anew.
_STALE_SHARE = 10
_LEAST_ROOM = 1024
_SCALE = 127


def to_bytes(rows: "NDArray[np.float32]") -> list[bytes]:
    """Each vector as signed bytes, scaled so that its largest component is 127; a cosine needs no scale."""
    import numpy as np  # noqa: PLC0415 - heavy, and only where there are vectors

    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.divide(rows * _SCALE, largest, out=np.zeros_like(rows), where=largest > 0)
    return [row.tobytes() for row in np.rint(scaled).astype(np.int8)]


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near every chunk is to a query, by cosine."""

    numbers: "Numbers"
    cosines: "Scores"

    def best(self, most: int, allowed: "set[int] | None" = None) -> list[int]:
        """The numbers of the nearest chunks, nearest first, ties to the newer."""
        import numpy as np  # noqa: PLC0415

        cosines = self.cosines
        if allowed is not None:
            mask = np.isin(self.numbers, np.fromiter(allowed, np.int64, len(allowed)))
            cosines = np.where(mask, cosines, np.float32(-2))
        head = np.argpartition(-cosines, most)[:most] if len(cosines) > most else np.arange(len(cosines))
        order = head[np.lexsort((-self.numbers[head], -cosines[head]))]
        return [int(self.numbers[at]) for at in order if cosines[at] > -1.5]

    def of(self, chunks: list[int]) -> list[float | None]:
        """The cosine of each chunk; None for one that has no vector yet."""
        import numpy as np  # noqa: PLC0415

        if not len(self.numbers):
            return [None] * len(chunks)
        at = np.minimum(np.searchsorted(self.numbers, chunks), len(self.numbers) - 1)
        found = self.numbers[at] == chunks
        return [float(self.cosines[place]) if here else None for place, here in zip(at, found, strict=True)]


class Matrix:
    """The vectors of one generation, kept current with what other processes write."""

    def __init__(self, generation: int, dimensions: int) -> None:
        self.generation = generation
        self._dimensions = dimensions
        self._lock = threading.Lock()
        #: How many loaded rows are known to have been taken out since; which ones is not.
        self.stale = 0
        self._clear()

    def __len__(self) -> int:
        """How many vectors are loaded."""
        return self._count

    def refresh(self, tx: Tx, generation: Generation) -> None:
        """Load what was written since the last time, or everything when much was taken out."""
        with self._lock:
            if (generation.removed - self._removed) * _STALE_SHARE > max(self._count, _LEAST_ROOM):
                self._clear()
            if self._count == 0:
                self._removed = generation.removed
            self.stale = generation.removed - self._removed
            if self._last < generation.done or self._count == 0:
                self._append(vectors.after(tx, self.generation, self._last))

    def near(self, query: "NDArray[np.float32]") -> Nearness:
        """The cosine of every vector to a query."""
        import numpy as np  # noqa: PLC0415

        with self._lock:
            count, rows, norms, numbers = self._count, self._rows, self._norms, self._numbers
        if count == 0:
            return Nearness(np.zeros(0, np.int64), np.zeros(0, np.float32))
        asked = np.frombuffer(to_bytes(query.reshape(1, -1))[0], np.int8)
        length = float(np.linalg.norm(asked.astype(np.float32))) or 1.0
        dots = _dots(asked, rows[:count])
        return Nearness(numbers[:count], (dots / (norms[:count] * np.float32(length))).astype(np.float32))

    def mean(self, chunks: list[int]) -> "NDArray[np.float32] | None":
        """The middle of some vectors, each of length 1."""
        import numpy as np  # noqa: PLC0415

        with self._lock:
            at = np.searchsorted(self._numbers[: self._count], chunks)
            at = at[at < self._count]
            if not len(at):
                return None
            rows = self._rows[at].astype(np.float32) / self._norms[at][:, None]
        return rows.mean(axis=0)

    def _clear(self) -> None:
        import numpy as np  # noqa: PLC0415

        self._count, self._last, self._removed = 0, 0, 0
        self._rows = np.zeros((0, self._dimensions), np.int8)
        self._norms = np.ones(0, np.float32)
        self._numbers = np.zeros(0, np.int64)

    def _append(self, rows: list[Any]) -> None:
        import numpy as np  # noqa: PLC0415

        # A row of another length is damaged: it is passed over, and its chunk is found by its words.
        good = [(number, data) for number, data in rows if len(data) == self._dimensions]
        if rows:
            self._last = rows[-1][0]
        if not good:
            return
        block = np.frombuffer(b"".join(data for _, data in good), np.int8).reshape(-1, self._dimensions)
        numbers = np.array([number for number, _ in good], np.int64)
        self._make_room(len(good))
        end = self._count + len(good)
        self._rows[self._count : end] = block
        self._norms[self._count : end] = np.maximum(np.linalg.norm(block.astype(np.float32), axis=1), 1)
        self._numbers[self._count : end] = numbers
        self._count = end

    def _make_room(self, more: int) -> None:
        import numpy as np  # noqa: PLC0415

        need = self._count + more
        if need <= len(self._numbers):
            return
        # An eighth to spare: writes come in ones, and memory must stay near what the vectors take.
        room = max(_LEAST_ROOM, need + need // 8)
        rows, norms, numbers = self._rows, self._norms, self._numbers
        self._rows = np.zeros((room, self._dimensions), np.int8)
        self._norms, self._numbers = np.ones(room, np.float32), np.zeros(room, np.int64)
        self._rows[: self._count] = rows[: self._count]
        self._norms[: self._count] = norms[: self._count]
        self._numbers[: self._count] = numbers[: self._count]


def _dots(query: "NDArray[np.int8]", rows: "NDArray[np.int8]") -> "NDArray[np.float32]":
    """The dot product of a query with every row: by SIMD where there is a package for it, else by numpy in blocks."""
    import numpy as np  # noqa: PLC0415

    try:
        import numkong  # noqa: PLC0415 - optional
    except ImportError:
        wide = query.astype(np.float32)
        blocks = (rows[start : start + 4096].astype(np.float32) @ wide for start in range(0, len(rows), 4096))
        return np.concatenate(list(blocks))
    return np.asarray(numkong.cdist(query.reshape(1, -1), rows, "dot"))[0].astype(np.float32)
