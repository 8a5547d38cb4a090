"""Packs program state into JSON numbers, which a message stores exactly as they are.

A checkpoint is the memory of a program, not a text: a changed byte would make it useless. The vault encrypts it like
everything else, but does not look for secrets in it, as it does in every string.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import cast

from recollectum.domain.message import Json

#: Seven bytes fit into an integer that every JSON reader knows exactly enough, and no more than 17 digits.
_WORD = 7
#: So many bytes are not compressed.
_SHORT = 250


def pack(data: bytes) -> list[int]:
    """Return bytes as numbers: their compressed length, then seven bytes in each."""
    small = _stored(data) if len(data) <= _SHORT else zlib.compress(data, 1)
    return [len(small), *(int.from_bytes(small[at : at + _WORD]) for at in range(0, len(small), _WORD))]


def _stored(data: bytes) -> bytes:
    """Return few bytes in the form of zlib (RFC 1950) as they are; compressing them takes longer and saves little."""
    length = len(data)
    sizes = length.to_bytes(2, "little") + (length ^ 0xFFFF).to_bytes(2, "little")
    return b"\x78\x01\x01" + sizes + data + zlib.adler32(data).to_bytes(4)


def unpack(numbers: Json) -> bytes:
    """Return the bytes that `pack` got."""
    length, *words = cast("Sequence[int]", numbers)
    last = length - _WORD * (len(words) - 1)
    parts = [word.to_bytes(_WORD) for word in words[:-1]]
    return zlib.decompress(b"".join([*parts, words[-1].to_bytes(last)]))


def pack_json(value: Mapping[str, Json]) -> list[int]:
    """Return a JSON object as numbers, so that no id in it is taken for a secret."""
    return pack(json.dumps(value).encode())


def unpack_json(numbers: Json) -> dict[str, Json]:
    """Return the JSON object that `pack_json` got."""
    return cast("dict[str, Json]", json.loads(unpack(numbers)))
