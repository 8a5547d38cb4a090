"""Vectors in nine bits a component: what is read is what was written to half a step, whoever wrote it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.models.embedding.port import Vectors
from recollectum.recall.vectors.quantisation import (
    are_valid_rows,
    dequantise,
    low_bits_size,
    quantise,
    quantise_query,
    unpack_rows,
)

DIMENSIONS = pytest.mark.parametrize("dimensions", [5, 7, 8, 9, 16, 63, 384, 385])
#: One step in the scale that rows are read in: half a signed byte.
STEP = 1


def _random(count: int, dimensions: int, seed: int = 1) -> Vectors:
    return np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)


def _exact(rows: Vectors) -> Vectors:
    """The rows in the scale that they are read in: the largest component is 127 bytes, each of two steps."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return (254 * rows / np.where(largest > 0, largest, 1)).astype(np.float32)


def _read(data: list[bytes], dimensions: int) -> Vectors:
    return dequantise(*unpack_rows(data, dimensions))


def _with_no_bits(rows: Vectors) -> list[bytes]:
    """As the first versions wrote them."""
    return [row.tobytes() for row in np.rint(_exact(rows) / 2).astype(np.int8)]


def _with_two_bits(rows: Vectors) -> list[bytes]:
    """As later versions wrote them: in quarters of a signed byte, the two bits below each, four in a byte."""
    quarters = np.rint(2 * _exact(rows)).astype(np.int16)
    high = (quarters + 2) >> 2
    rest = np.pad(quarters - 4 * high + 2, ((0, 0), (0, -rows.shape[1] % 4)), constant_values=2).astype(np.uint8)
    low = rest[:, 0::4] | rest[:, 1::4] << 2 | rest[:, 2::4] << 4 | rest[:, 3::4] << 6
    return [row.tobytes() for row in np.hstack([high.astype(np.int8).view(np.uint8), low])]


@DIMENSIONS
def test_a_component_comes_back_within_half_a_step(dimensions: int) -> None:
    rows = _random(40, dimensions)
    data = quantise(rows)
    assert {len(row) for row in data} == {dimensions + -(-dimensions // 8)} == {dimensions + low_bits_size(dimensions)}
    assert np.abs(_read(data, dimensions) - _exact(rows)).max() <= STEP / 2 + 1e-4


@DIMENSIONS
def test_a_low_bit_is_one_half_step_more_or_less(dimensions: int) -> None:
    high, low = unpack_rows(quantise(_random(40, dimensions)), dimensions)
    bits = np.unpackbits(low, axis=1, count=dimensions, bitorder="little").astype(np.float32)
    assert np.array_equal(dequantise(high, low), 2 * high.astype(np.float32) + bits - 1)
    assert dequantise(high[:0], low[:0]).shape == (0, dimensions)


@given(st.lists(st.integers(-254, 254), min_size=5, max_size=20))
def test_what_is_a_whole_number_of_steps_comes_back_as_it_was(steps: list[int]) -> None:
    row = np.array([[*steps, 254]], np.float32)
    assert _read(quantise(row), row.shape[1]).tolist() == row.tolist()


def test_the_largest_components_of_either_sign_fit() -> None:
    row = np.array([[1, -1, 0.5, -0.5, 0, 1e-9, -1e-9, 1, -1]], np.float32)
    assert _read(quantise(row), 9).tolist() == [[254, -254, 127, -127, 0, 0, 0, 254, -254]]


@DIMENSIONS
def test_signed_bytes_alone_are_read(dimensions: int) -> None:
    rows = _random(20, dimensions, 2)
    data = _with_no_bits(rows)
    assert {len(row) for row in data} == {dimensions}
    assert np.abs(_read(data, dimensions) - _exact(rows)).max() <= STEP + 1e-4


@DIMENSIONS
def test_rows_with_two_bits_below_each_byte_are_read(dimensions: int) -> None:
    rows = _random(20, dimensions, 3)
    data = _with_two_bits(rows)
    assert {len(row) for row in data} == {dimensions + -(-dimensions // 4)}
    # A quarter of a byte as it was written, and half a step by the bit that is left out.
    assert np.abs(_read(data, dimensions) - _exact(rows)).max() <= STEP / 4 + STEP / 2 + 1e-4


def test_the_largest_components_of_older_rows_fit_too() -> None:
    row = np.array([[1, -1, 0.5, -0.5, 0, 1, -1, 1]], np.float32)
    expected = [[254, -254, 127, -127, 0, 254, -254, 254]]
    assert _read(_with_two_bits(row), 8).tolist() == expected
    assert _read(_with_no_bits(row), 8).tolist() == [[254, -254, 128, -128, 0, 254, -254, 254]]


@DIMENSIONS
def test_rows_of_every_age_may_lie_in_one_page(dimensions: int) -> None:
    rows = _random(9, dimensions, 4)
    written = [quantise(rows), _with_no_bits(rows), _with_two_bits(rows)]
    data = [written[place % 3][place] for place in range(9)]
    apart = np.concatenate([_read([one], dimensions) for one in data])
    assert _read(data, dimensions).tolist() == apart.tolist()
    assert np.abs(apart - _exact(rows)).max() <= STEP + 1e-4


@DIMENSIONS
def test_zeros_stay_zeros(dimensions: int) -> None:
    rows = np.zeros((2, dimensions), np.float32)
    for written in (quantise(rows), _with_no_bits(rows), _with_two_bits(rows)):
        assert not _read(written, dimensions).any()
    assert not quantise_query(rows[0]).any()


@DIMENSIONS
def test_a_question_is_scanned_for_by_the_bytes_that_a_row_would_have(dimensions: int) -> None:
    rows = _random(5, dimensions, 5)
    high, _ = unpack_rows(quantise(rows), dimensions)
    assert np.array([quantise_query(row) for row in rows]).tolist() == high.tolist()


@pytest.mark.parametrize(("dimensions", "whole"), [(8, {8, 9, 10}), (9, {9, 11, 12}), (384, {384, 432, 480})])
def test_a_row_of_any_other_length_is_damaged(dimensions: int, whole: set[int]) -> None:
    lengths = range(2 * dimensions)
    assert {length for length in lengths if are_valid_rows([bytes(length)], dimensions)} == whole


def test_a_cosine_is_that_of_the_floats() -> None:
    rows, query = _random(200, 384, 6), _random(1, 384, 7)[0]
    read = _read(quantise(rows), 384)

    def cosines(some: Vectors) -> Vectors:
        return some @ query / np.linalg.norm(some, axis=1) / np.linalg.norm(query)

    assert np.abs(cosines(read) - cosines(rows)).max() < 0.001
