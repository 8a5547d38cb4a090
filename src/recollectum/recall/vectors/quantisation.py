"""Quantises vectors to nine bits a component (scalar quantisation): a signed byte to scan, and one bit to re-score."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.int8]
    Bits = NDArray[np.uint8]
    Vectors = NDArray[np.float32]

_SCALE = 127


def quantise(rows: "Vectors") -> list[bytes]:
    """Return the stored form of each vector: first the signed bytes, then the low bits, eight in a byte."""
    import numpy as np  # noqa: PLC0415 - heavy, and only where there are vectors

    high, low = _pack_halves(_scaled(rows, 2))
    return [row.tobytes() for row in np.hstack([high.view(np.uint8), low])]


def quantise_query(vector: "Vectors") -> "Bytes":
    """Return one vector as the signed bytes to scan for."""
    import numpy as np  # noqa: PLC0415

    return _high_bytes(_scaled(vector.reshape(1, -1), 2))[0].astype(np.int8)


def low_bits_size(dimensions: int) -> int:
    """Return the number of bytes of one vector's low bits."""
    return -(-dimensions // 8)


def dequantise(high: "Bytes", low: "Bits") -> "Vectors":
    """Return the vectors at full precision, not scaled to length 1."""
    import numpy as np  # noqa: PLC0415

    # In 16 bits, and by a table: unpacking the bits takes as long as all the rest.
    halves = high.astype(np.int16)
    halves += halves
    halves += _half_steps().take(low, axis=0).reshape(len(low), 8 * low.shape[1])[:, : high.shape[1]]
    return halves.astype(np.float32)


@cache
def _half_steps() -> "NDArray[np.int16]":
    """Return what the eight low bits of each byte add, in half-steps: a bit that is not set means one less."""
    import numpy as np  # noqa: PLC0415

    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return bits.astype(np.int16) - np.int16(1)


def are_valid_rows(data: Sequence[bytes], dimensions: int) -> bool:
    """Return whether rows have one of the lengths that were ever written; a row of another length is damaged."""
    return set(map(len, data)) <= known_lengths(dimensions)


def known_lengths(dimensions: int) -> set[int]:
    """Return the lengths in bytes that stored vectors ever had."""
    return {dimensions + low_bits_size(dimensions), dimensions, dimensions + -(-dimensions // 4)}


def unpack_rows(data: Sequence[bytes], dimensions: int) -> "tuple[Bytes, Bits]":
    """Return rows of any format version as signed bytes and low bits."""
    import numpy as np  # noqa: PLC0415

    lengths = set(map(len, data))
    if len(lengths) == 1:
        return unpack_joined(b"".join(data), len(data), dimensions)
    high = np.empty((len(data), dimensions), np.int8)
    low = np.empty((len(data), low_bits_size(dimensions)), np.uint8)
    for length in lengths:
        places = [place for place, row in enumerate(data) if len(row) == length]
        high[places], low[places] = unpack_rows([data[place] for place in places], dimensions)
    return high, low


def unpack_joined(data: bytes, count: int, dimensions: int) -> "tuple[Bytes, Bits]":
    """Unpack rows of one length: of the current format, or of an earlier one with two low bits or none."""
    import numpy as np  # noqa: PLC0415

    rows = np.frombuffer(data, np.uint8).reshape(count, -1)
    high, low = rows[:, :dimensions].view(np.int8), rows[:, dimensions:]
    if low.shape[1] == low_bits_size(dimensions):
        return high, low
    quarters = 4 * high.astype(np.int16)
    if low.shape[1]:
        rest = low[:, :, None] >> np.array([0, 2, 4, 6], np.uint8) & 3
        quarters += rest.reshape(len(rows), -1)[:, :dimensions].astype(np.int16) - 2
    return _pack_halves((quarters + 1) >> 1)


def _scaled(rows: "Vectors", parts: int) -> "NDArray[np.int16]":
    """Return each component in units of a signed byte."""
    import numpy as np  # noqa: PLC0415

    # Scaled so that the largest component is 127; a cosine needs no scale.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.divide(rows * (parts * _SCALE), largest, out=np.zeros_like(rows), where=largest > 0)
    return np.rint(scaled).astype(np.int16)


def _high_bytes(halves: "NDArray[np.int16]") -> "NDArray[np.int16]":
    """Return the nearest signed byte of each component, rounding half up."""
    return (halves + 1) >> 1


def _pack_halves(halves: "NDArray[np.int16]") -> "tuple[Bytes, Bits]":
    """Return components in half-steps as signed bytes and low bits."""
    import numpy as np  # noqa: PLC0415

    high = _high_bytes(halves)
    low = np.packbits((halves - 2 * high + 1).astype(np.uint8), axis=1, bitorder="little")
    return high.astype(np.int8), low
