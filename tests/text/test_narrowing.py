"""What is looked for in a large index: rare phrases anywhere, frequent ones only beside another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.narrowing import BUDGET, narrowed

TOTAL = 1_000_000


@pytest.mark.parametrize(
    ("frequencies", "expressions"),
    [
        ({}, ()),
        ({"a": 0}, ()),
        ({"b": 9, "a": 3, "c": 0}, ("a OR b",)),
        ({"a": BUDGET, "b": BUDGET}, ("a OR b",)),
        # Too many for all: the rare one alone, and the frequent one beside it.
        ({"b": 50_000, "a": 300}, ("a", "(b) AND (a)")),
        # None is rare.
        ({"b": 50_000, "a": 20_000}, ("(a) AND (b)",)),
        ({"c": 9_000, "b": 3_000, "a": 2_500}, ("(a OR b) AND (c)",)),
        # Said by a third of all: it tells nothing beside others, but there may be no others.
        ({"a": 300, "b": 4_000, "c": 333_000}, ("a", "(b) AND (a)")),
        ({"a": 300, "c": 333_000}, ("a",)),
        ({"c": 333_000, "d": 400_000, "e": 500_000}, ("(c) AND (d)",)),
        ({"c": 333_000}, ("c",)),
    ],
)
def test_narrowed(frequencies: dict[str, int], expressions: tuple[str, ...]) -> None:
    assert narrowed(frequencies, TOTAL) == expressions


@given(st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, TOTAL), min_size=1))
def test_what_is_known_is_always_looked_for(frequencies: dict[str, int]) -> None:
    expressions = narrowed(frequencies, TOTAL)
    assert bool(expressions) == any(frequencies.values())
    words = [word.strip("()") for one in expressions for word in one.split() if word not in ("AND", "OR")]
    assert all(frequencies[word] for word in words)
    rarest = min((count, word) for word, count in frequencies.items() if count)[0] if words else 0
    assert not words or min(frequencies[word] for word in words) == rarest
