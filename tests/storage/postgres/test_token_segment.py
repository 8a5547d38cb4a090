"""Tokens are sorted by their number, and those of one token by their place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollectum.storage.postgres.full_text.token_segment import segment_of

#: Tokens that differ in their last bits alone, which make way for the place while they are sorted.
_ALIKE = st.integers(0, 7).map(lambda low: (0x10FFFF << 43) + low)
_CHUNKS = st.lists(st.lists(st.one_of(st.integers(0, 2**64 - 1), _ALIKE, st.integers(0, 3)), max_size=12), min_size=1)


@given(chunks=_CHUNKS)
def test_the_postings_of_a_token_are_in_the_order_of_the_text(chunks: list[list[int]]) -> None:
    found = segment_of([(number, np.array(one, "<u8").tobytes()) for number, one in enumerate(chunks, start=1)])
    expected = sorted(
        (token, owner, sum(map(len, chunks[:owner])) + owner + place)
        for owner, chunk in enumerate(chunks)
        for place, token in enumerate(chunk)
    )
    tokens = np.repeat(found.vocabulary, np.diff(found.starts))
    assert list(zip(tokens.tolist(), found.owners.tolist(), found.places.tolist(), strict=True)) == expected
