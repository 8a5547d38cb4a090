"""Program state becomes numbers and the same bytes again."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.adapters.packing import pack, pack_json, unpack, unpack_json


@given(st.binary(max_size=600))
def test_bytes_come_back(data: bytes) -> None:
    numbers = pack(data)
    assert unpack(numbers) == data
    assert all(0 <= one < 2**56 for one in numbers[1:])


@pytest.mark.parametrize("size", [0, 1, 249, 250, 251, 252, 70_000])
def test_each_length_is_in_the_form_of_zlib(size: int) -> None:
    data = bytes(number % 251 for number in range(size))
    length, *words = pack(data)
    last = length - 7 * (len(words) - 1)
    written = b"".join([*(word.to_bytes(7) for word in words[:-1]), words[-1].to_bytes(last)])
    assert zlib.decompress(written) == data


def test_what_was_compressed_before_is_read() -> None:
    small = zlib.compress(b'{"role": "user"}', 1)
    words = [int.from_bytes(small[at : at + 7]) for at in range(0, len(small), 7)]
    assert unpack_json([len(small), *words]) == unpack_json(pack_json({"role": "user"})) == {"role": "user"}
