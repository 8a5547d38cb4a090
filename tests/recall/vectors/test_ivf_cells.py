"""Where a chunk lies among the known ones, whether or not some are missing between them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollectum.recall.vectors.ivf import find_places

NUMBERS = st.lists(st.integers(1, 40), max_size=20)


@given(known=st.sets(st.integers(1, 30)), asked=NUMBERS)
def test_a_number_is_found_where_it_stands_and_no_other_is(known: set[int], asked: list[int]) -> None:
    ordered = sorted(known)
    found = find_places(np.array(ordered, np.int64), None, np.array(asked, np.int64))
    assert found.tolist() == [ordered.index(number) if number in known else -1 for number in asked]


@given(first=st.integers(1, 30), count=st.integers(1, 20), asked=NUMBERS)
def test_where_none_is_missing_too(first: int, count: int, asked: list[int]) -> None:
    known = np.arange(first, first + count, dtype=np.int64)
    found = find_places(known, None, np.array(asked, np.int64)).tolist()
    assert found == [number - first if first <= number < first + count else -1 for number in asked]


@given(known=st.sets(st.integers(1, 30), min_size=1), asked=NUMBERS)
def test_where_the_places_are_others_they_are_told(known: set[int], asked: list[int]) -> None:
    ordered = sorted(known)
    places = np.arange(len(ordered), dtype=np.int32)[::-1].copy()
    found = find_places(np.array(ordered, np.int64), places, np.array(asked, np.int64)).tolist()
    assert found == [len(ordered) - 1 - ordered.index(number) if number in known else -1 for number in asked]
