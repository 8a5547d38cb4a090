"""Vectors as the bytes that a cache keeps: half precision, with a mark in front."""

from typing import TYPE_CHECKING

from recollectum.models.vectors import unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollectum.models.port import Vectors

#: The first byte, so that another form can follow one day.
_HALF = b"\x01"


def encode(rows: "Vectors") -> list[bytes]:
    """Each row as bytes: a mark, and two for each component."""
    return [_HALF + row.tobytes() for row in rows.astype("<f2")]


def decode(value: bytes, dimensions: int) -> "NDArray[np.float32] | None":
    """The row, or None where the bytes are not one; a dimension of 0 allows any length."""
    import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

    if value[:1] != _HALF or len(value) % 2 == 0 or (dimensions and len(value) != 1 + 2 * dimensions):
        return None
    halves = np.frombuffer(value, "<f2", offset=1)
    # A page that was wiped reads as zeros, which no text has for a vector.
    return restore(value) if np.isfinite(halves).all() and halves.any() else None


def restore(value: bytes) -> "NDArray[np.float32]":
    """The row that `encode` made into bytes, scaled to length 1 again."""
    import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

    return unit(np.frombuffer(value, "<f2", offset=1).astype(np.float32))
