"""Sends many rows with one statement: each column travels as one array, in the server's binary form.

The arrays are encoded here, because psycopg's own encoding of a list costs several times as much for each value.
"""

import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.pq import Format

from recollectum.domain.errors import StorageError
from recollectum.domain.records import dataclass
from recollectum.storage.port import Params
from recollectum.storage.postgres.dialect import ROW_NUMBER, NumberedInsert
from recollectum.storage.postgres.sealing import PlainValues
from recollectum.storage.row_lists import column_of

_LENGTH: Final = struct.Struct(">i")
_DOUBLE: Final = struct.Struct(">id")
_NULL: Final = _LENGTH.pack(-1)
_EIGHT: Final = _LENGTH.pack(8)
#: One dimension, with or without nulls, the type of a member, how many there are, the first place.
_HEADER: Final = struct.Struct(">iiIii")
#: Bytes of one statement; a message of the protocol has less than a gigabyte.
_MOST_BYTES: Final = 1 << 26


class Array:
    """A column of values as the server reads it."""

    __slots__ = ("data",)
    name = ""
    member = 0
    oid = 0
    #: Whether equal values are encoded alike.
    equal_is_same = True

    def __init__(self, values: Sequence[Any]) -> None:
        count = len(values)
        # Many columns of new rows are empty, or the same in all of them. To count a value is slow where others differ.
        same = count and self.equal_is_same and values[0] == values[-1] and values.count(values[0]) == count
        body = b"".join(self.encoded(values[:1])) * count if same else self.dense(values)
        missing = False
        if body is None:
            missing, body = True, b"".join(self.encoded(values))
        elif same:
            missing = values[0] is None
        self.data = _HEADER.pack(1, int(missing), self.member, count, 1) + body

    @classmethod
    def encoded(cls, values: Iterable[Any]) -> list[bytes]:
        """Return each value with its length before it."""
        raise NotImplementedError

    @classmethod
    def dense(cls, values: Sequence[Any]) -> bytes | None:
        """Return all values, each with its length before it; None if one is missing."""
        return None if None in values else b"".join(cls.encoded(values))


class _Numbers(Array):
    name, member, oid = "int8", 20, 1016

    @classmethod
    def encoded(cls, values: Iterable[Any]) -> list[bytes]:
        return [_NULL if one is None else _EIGHT + int(one).to_bytes(8, "big", signed=True) for one in values]

    @classmethod
    def dense(cls, values: Sequence[Any]) -> bytes | None:
        if None in values:
            return None
        numbers = array("q", map(int, values))
        if sys.byteorder == "little":
            numbers.byteswap()
        # The bytes of all numbers are put between their lengths one place after the other, which takes no loop.
        given, body = numbers.tobytes(), bytearray(_EIGHT + bytes(8)) * len(values)
        for place in range(8):
            body[4 + place :: 12] = given[place::8]
        return bytes(body)


class _Floats(Array):
    name, member, oid = "float8", 701, 1022
    # Zero has two signs.
    equal_is_same = False

    @classmethod
    def encoded(cls, values: Iterable[Any]) -> list[bytes]:
        return [_NULL if one is None else _DOUBLE.pack(8, one) for one in values]


class _Texts(Array):
    name, member, oid = "text", 25, 1009

    @classmethod
    def encoded(cls, values: Iterable[Any]) -> list[bytes]:
        texts = (None if one is None else one.encode() for one in values)
        return [_NULL if one is None else _LENGTH.pack(len(one)) + one for one in texts]

    @classmethod
    def dense(cls, values: Sequence[Any]) -> bytes | None:
        if None in values:
            return None
        texts = [one.encode() for one in values]
        return _of_one_length(texts) or b"".join([_LENGTH.pack(len(one)) + one for one in texts])


class _Bytes(Array):
    name, member, oid = "bytea", 17, 1001

    @classmethod
    def encoded(cls, values: Iterable[Any]) -> list[bytes]:
        return [_NULL if one is None else _LENGTH.pack(len(one)) + one for one in values]

    @classmethod
    def dense(cls, values: Sequence[Any]) -> bytes | None:
        if None in values:
            return None
        return _of_one_length(values) or b"".join([_LENGTH.pack(len(one)) + one for one in values])


def _of_one_length(values: Sequence[bytes]) -> bytes:
    """Return values with their length before each, where all have one, as ids and digests have; else nothing."""
    lengths = {*map(len, values)}
    if len(lengths) != 1:
        return b""
    length = _LENGTH.pack(lengths.pop())
    return length + length.join(values)


_ARRAYS: Final = {one.member: one for one in (_Numbers, _Floats, _Texts, _Bytes)}


class _ArrayDumper(Dumper):
    """Passes an encoded array on."""

    format = Format.BINARY

    def dump(self, obj: Array) -> bytes:
        return obj.data


def register_arrays(context: AdaptContext) -> None:
    """Let the connections of a context send arrays."""
    for one in _ARRAYS.values():
        dumper = type(f"{one.__name__}Dumper", (_ArrayDumper,), {"oid": one.oid})
        context.adapters.register_dumper(one, dumper)


@dataclass(frozen=True, slots=True)
class RowsStatement:
    """An INSERT of many rows, and how each column is converted and encoded."""

    sent: bytes
    names: tuple[str, ...]
    #: Encrypts the values of a column, where it is encrypted.
    seals: tuple[Callable[[Sequence[Any], PlainValues], list[bytes | None]] | None, ...]
    arrays: tuple[type[Array], ...]
    #: The table that it changes.
    changed: str
    #: Whether it has one plan, whatever its vault is.
    keeps_plan: bool
    #: Whether it returns rows.
    returns: bool
    #: The INSERT that it was made from, where the client gives the rows their numbers.
    numbered: NumberedInsert | None

    def batches(
        self, rows: Sequence[Params], sealing: PlainValues, numbers: Sequence[int] = ()
    ) -> Iterator[list[Array]]:
        """Yield the columns of all rows, or of so many rows at a time that no message is too large.

        `numbers` are those of the rows, where the client gives them.
        """
        columns = [self._column(place, rows, sealing, numbers) for place in range(len(self.names))]
        if len(rows) == 1 or sum(len(one.data) for one in columns) <= _MOST_BYTES:
            yield columns
            return
        half = len(rows) // 2
        yield from self.batches(rows[:half], sealing, numbers[:half])
        yield from self.batches(rows[half:], sealing, numbers[half:])

    def _column(self, place: int, rows: Sequence[Params], sealing: PlainValues, numbers: Sequence[int]) -> Array:
        name, seal = self.names[place], self.seals[place]
        if name == ROW_NUMBER:
            return self.arrays[place](numbers)
        values = column_of(rows, name)
        if seal is not None:
            values = seal(values, sealing)
        return self.arrays[place](values)


def to_bytes_array(values: Sequence[bytes]) -> bytes:
    """Return a list of bytes as the server reads it."""
    return _Bytes(values).data


def array_of(type_: int) -> type[Array]:
    """Return how a column of this type is sent."""
    found = _ARRAYS.get(type_)
    if found is None:
        raise StorageError(f"rows with a column of type {type_} cannot be sent as arrays; send them one by one")
    return found
