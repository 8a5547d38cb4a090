"""What is looked for in a large index: rare phrases anywhere, frequent ones only beside another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.text.terms.match_plan import BUDGET, SMALL, MatchPlan, budget, plan_match

TOTAL = 1_000_000
FREQUENCIES = st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, TOTAL), min_size=1)


@pytest.mark.parametrize(
    ("frequencies", "alone", "leading", "beside"),
    [
        ({}, "", "", ""),
        ({"a": 0}, "", "", ""),
        ({"b": 9, "a": 3, "c": 0}, "ab", "", ""),
        # Up to the budget, a fiftieth of all, and not one more.
        ({"a": 10_000, "b": 10_000}, "ab", "", ""),
        ({"a": 10_000, "b": 10_001}, "a", "", "b"),
        # Too many for all: the rare one alone, and the frequent one beside it.
        ({"b": 50_000, "a": 300}, "a", "", "b"),
        ({"c": 19_000, "b": 3_000, "a": 2_500}, "ab", "", "c"),
        # So rare that it alone would not fill a page: the newest with the next one too.
        ({"b": 50_000, "a": 59}, "a", "b", ""),
        ({"b": 50_000, "a": 60}, "a", "", "b"),
        ({"c": 60_000, "b": 500_000, "a": 59}, "a", "c", ""),
        # None is rare.
        ({"b": 50_000, "a": 20_001}, "", "a", "b"),
        # Said by a tenth of all it may still tell something beside others; by more, nothing.
        ({"a": 300, "b": 100_000}, "a", "", "b"),
        ({"a": 300, "b": 100_001}, "a", "", ""),
        ({"b": 50_000, "c": 333_000}, "", "b", "c"),
        # But there may be no others.
        ({"c": 333_000, "d": 400_000, "e": 500_000}, "", "c", "d"),
        ({"c": 333_000}, "", "c", ""),
        # Of many that are frequent the rarest.
        ({"a": 99, **{letter: 30_000 + place for place, letter in enumerate("bcdefghij")}}, "a", "", "bcdefg"),
    ],
)
def test_narrowed(frequencies: dict[str, int], alone: str, leading: str, beside: str) -> None:
    assert plan_match(frequencies, TOTAL) == MatchPlan(tuple(alone), tuple(leading), tuple(beside))


@pytest.mark.parametrize("total", [2, SMALL])
def test_in_a_small_index_every_phrase_that_is_known_is_looked_for_alone(total: int) -> None:
    assert plan_match({"c": total, "a": 1, "b": total, "z": 0}, total) == MatchPlan(("a", "c", "b"), (), ())
    assert plan_match({"c": SMALL + 1, "a": 1}, SMALL + 1) == MatchPlan(("a",), ("c",), ())


def test_of_more_chunks_more_are_ranked_but_never_few() -> None:
    assert (budget(0), budget(SMALL), budget(50 * BUDGET)) == (BUDGET, BUDGET, BUDGET)
    assert budget(TOTAL) == TOTAL // 50


@given(FREQUENCIES, st.sampled_from([100, SMALL, SMALL + 1, TOTAL]))
def test_what_is_known_is_always_looked_for(frequencies: dict[str, int], total: int) -> None:
    plan = plan_match(frequencies, total)
    sought = [*plan.alone, *plan.leading, *plan.beside]
    assert bool(sought) == any(frequencies.values())
    assert all(frequencies[phrase] for phrase in sought)
    assert len(set(sought)) == len(sought)
    assert [frequencies[phrase] for phrase in sought] == sorted(frequencies[phrase] for phrase in sought)
    if sought:
        assert frequencies[sought[0]] == min(filter(None, frequencies.values()))


@given(FREQUENCIES)
def test_what_is_ranked_stays_within_the_budget(frequencies: dict[str, int]) -> None:
    plan = plan_match(frequencies, TOTAL)
    assert sum(frequencies[phrase] for phrase in plan.alone) <= budget(TOTAL)
