"""Kinds of everyday things lead to what belongs to them, and nothing else does."""

import pytest

from recollectum import Recollectum
from recollectum.text.terms.analyser import MAX_TERMS, expand_kinds, members, query_terms


def words(query: str) -> list[str]:
    return [term.term for term in expand_kinds(query_terms(query))]


@pytest.mark.parametrize(
    ("query", "sought"),
    [
        ("How many siblings do I have?", ["siblings", "brother", "sister"]),
        ("what are the names of my children", ["names", "children", "son", "daughter"]),
        ("my brother and my sibling", ["brother", "sibling", "sister"]),
        ("the weather in Lisbon", ["weather", "lisbon"]),
    ],
)
def test_a_kind_brings_its_members_once_and_after_what_was_asked(query: str, sought: list[str]) -> None:
    assert [word for word in words(query) if word in sought] == sought
    assert set(words(query)) - set(sought) <= {term.term for term in query_terms(query)}


def test_plurals_are_those_of_english() -> None:
    assert members("pets") == members("pet")
    assert members("children") == members("child")
    assert members("relatives") == members("relative")
    assert not members("brother")


def test_no_question_grows_past_what_one_may_look_for() -> None:
    long = " ".join(["siblings", "pets", *(f"word{number}" for number in range(2 * MAX_TERMS))])
    assert len(expand_kinds(query_terms(long))) == MAX_TERMS


def test_who_asks_about_pets_is_answered_by_a_dog() -> None:
    with Recollectum() as r:
        vault = r.vault("user:ann")
        vault.memories.save("our dog is called Rex and hates the vacuum cleaner")
        vault.memories.save("the garden needs water every evening in summer")
        (hit,) = vault.recall("do I have any pets?")
        assert "Rex" in hit.text
        assert "dog" in hit.reasons.terms
