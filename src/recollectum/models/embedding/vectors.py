"""Scales rows to unit length, and encodes them in half precision for a cache."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from recollectum.domain.errors import ModelMissing, ModelRefused
from recollectum.home.install_command import install_command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollectum.models.embedding.port import Vectors


def need_numpy() -> None:
    """Raise, with the cure, unless numpy is installed; the call that uses it imports it."""
    if not find_spec("numpy"):
        raise ModelMissing(f"vectors need numpy; run: {install_command('numpy', 'numkong')}")


def to_unit_length(rows: "Vectors") -> "Vectors":
    """Return each row scaled to length 1; a row of zeros stays as it is."""
    import numpy as np  # noqa: PLC0415 - the caller has it already

    # In float64, and row by row, so that a row gives the same bits beside any others.
    lengths = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=-1, keepdims=True))
    scaled = np.divide(rows, lengths, out=np.zeros(rows.shape, np.float64), where=lengths > 0)
    return scaled.astype(np.float32)


def from_answer(rows: object, count: int, dimensions: int, name: str) -> "Vectors":
    """Return the vectors that an endpoint sent; `name` names it in errors. A dimension of 0 allows any length."""
    found = _numbers(rows)
    if found is None:
        raise ModelRefused(f"{name} did not answer with vectors; check embedding.base_url")
    if len(found) != count:
        raise ModelRefused(f"{name} answered {count} texts with {len(found)} vectors; check embedding.base_url")
    if dimensions and found.shape[1] != dimensions:
        raise ModelRefused(
            f"{name} answered with vectors of {found.shape[1]} dimensions, not {dimensions}; "
            "correct embedding.dimensions or choose another model"
        )
    return to_unit_length(found)


def _numbers(rows: object) -> "Vectors | None":
    import numpy as np  # noqa: PLC0415 - the caller has it already

    try:
        # A number too large for float32 becomes infinite, which the check below rejects.
        with np.errstate(over="ignore"):
            found = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        return None
    return found if found.ndim == 2 and found.shape[1] and np.isfinite(found).all() else None


#: The first byte, so that another encoding can follow later.
_HALF = b"\x01"


def encode(rows: "Vectors") -> list[bytes]:
    """Return each row as bytes: a marker, and two bytes for each component."""
    return [_HALF + row.tobytes() for row in rows.astype("<f2")]


def decode(value: bytes, dimensions: int) -> "NDArray[np.float32] | None":
    """Return the row, or None if the bytes are invalid; a dimension of 0 allows any length."""
    import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

    if value[:1] != _HALF or len(value) % 2 == 0 or (dimensions and len(value) != 1 + 2 * dimensions):
        return None
    halves = np.frombuffer(value, "<f2", offset=1)
    # A wiped page reads as zeros, which is no text's vector.
    return restore(value) if np.isfinite(halves).all() and halves.any() else None


def restore(value: bytes) -> "NDArray[np.float32]":
    """Return the row that `encode` turned into bytes, scaled to length 1 again."""
    import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

    return to_unit_length(np.frombuffer(value, "<f2", offset=1).astype(np.float32))
