"""Looking at all memories proposes merges and replacements, always the same, and never a loss."""

import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

import pytest

from recollectum.distil.merge_proposals import analyse
from recollectum.domain.proposal import RULES, Act, Finding
from tests.distil.said import memory

TEA = "Drinks green tea with lemon every morning before work"


@pytest.mark.feature("A10")
def test_near_duplicates_are_to_become_one_around_the_most_used() -> None:
    known = [
        memory("mem_a", TEA, importance=0.3),
        memory("mem_b", TEA + " starts", importance=0.9),
        memory("mem_c", "Lives in Oslo"),
    ]
    (one,) = analyse(known, {"mem_a": 4, "mem_b": 1})
    assert (one.act, one.targets, one.content, one.importance) == (Act.MERGE, ("mem_a", "mem_b"), TEA, 0.9)
    assert (one.by, one.certain, one.spans) == (RULES, False, ())
    assert analyse(known)[0].targets == ("mem_b", "mem_a")


@pytest.mark.parametrize(
    "other",
    [
        TEA.upper() + "!",
        TEA.replace("every", "never every"),
        TEA + " since 2019",
        TEA.replace("before work", "in Bergen"),
        "Drinks coffee",
    ],
)
def test_what_is_equal_or_differs_in_what_counts_is_not_merged(other: str) -> None:
    assert analyse([memory("mem_a", TEA), memory("mem_b", other)]) == ()


def test_two_keys_are_two_things() -> None:
    assert analyse([memory("mem_a", TEA, key="tea"), memory("mem_b", TEA + " starts", key="morning")]) == ()


@pytest.mark.feature("A10")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Oslo", "I moved to Bergen"),
        ("I live in Oslo.", "The person lives in Bergen."),
        ("I work at Equinor", "I now work for Statkraft"),
        ("My favourite colour is green", "My favorite colour is blue"),
        ("My email is a@example.com", "My email is b@example.com"),
        ("I am 33 years old.", "I am 34."),
    ],
)
def test_two_values_of_one_thing_are_a_contradiction(old: str, new: str) -> None:
    (one,) = analyse([memory("mem_new", new, days=2), memory("mem_old", old, days=1)])
    assert (one.act, one.targets, one.content) == (Act.SUPERSEDE, ("mem_old",), new)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lives in Oslo", "Lives in Oslo near the park"),
        ("Lives in Oslo", "My sister lives in Bergen"),
        ("Lives in Oslo", "Does not live in Bergen"),
        ("Lives in Oslo", "Works in Bergen"),
        ("My wife is a nurse", "My wife is from Rome"),
        ("I like tea", "I like coffee"),
    ],
)
def test_what_can_both_hold_is_none(one: str, other: str) -> None:
    assert analyse([memory("mem_a", one), memory("mem_b", other, days=1)]) == ()


@pytest.mark.feature("A10")
def test_nothing_is_to_be_forgotten_and_the_order_of_memories_does_not_matter() -> None:
    known = [memory(f"mem_{n:03}", f"{TEA} and {word}", importance=0.0) for n, word in enumerate(["so", "on", "then"])]
    known += [memory("mem_x", "Never used", importance=0.0)]
    found = analyse(known)
    assert {one.act for one in found} == {Act.MERGE}
    assert found == analyse(known[::-1])


class _Comparisons:
    """Counts how often two texts are compared."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ANN401  (its form is given)
        self.count += event == "call" and frame.f_code.co_name == "_is_near"


def _compared(texts: Iterable[str]) -> tuple[int, tuple[Finding, ...]]:
    counter = _Comparisons()
    known = [memory(f"mem_{number:05}", text) for number, text in enumerate(texts)]
    sys.setprofile(counter)
    try:
        found = analyse(known)
    finally:
        sys.setprofile(None)
    return counter.count, found


@pytest.mark.slow
def test_of_thousands_that_are_near_each_other_and_stay_apart_each_is_compared_with_a_few() -> None:
    # Each has a number that no other has.
    compared, found = _compared(f"{TEA} with {number} friends" for number in range(5000))
    assert found == ()
    # Every pair would be twelve million.
    assert compared <= 64 * 5000


@pytest.mark.slow
def test_thousands_that_are_nearly_the_same_are_one_proposal_and_each_is_compared_once() -> None:
    compared, (one,) = _compared(f"{TEA} {_word(number)}" for number in range(5000))
    assert len(one.targets) == 5000
    assert compared == 4999


def _word(number: int) -> str:
    """A word for each number, without a digit."""
    return "zq" + "".join(chr(ord("a") + int(digit)) for digit in str(number))
