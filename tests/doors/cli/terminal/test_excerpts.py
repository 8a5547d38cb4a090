"""Of a long text a person sees the part that matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.doors.cli.terminal.excerpts import MOST_CHARACTERS, MOST_LINES, excerpt

FILLING = "The weather was mild and nothing else happened on that day. "


def test_a_short_text_is_whole() -> None:
    assert excerpt("I am\nvegetarian", ["vegetarian"]) == "I am\nvegetarian"


def test_many_short_lines_are_one() -> None:
    assert excerpt("a\n" * (MOST_LINES + 1), []) == "a a a a a a a"


def test_a_long_text_is_cut_around_the_words() -> None:
    text = FILLING * 20 + "My allergy is penicillin. " + FILLING * 20
    found = excerpt(text, ["penicillin"])
    assert "My allergy is penicillin." in found
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert len(found) <= MOST_CHARACTERS + 4


def test_the_place_with_most_different_words_is_shown() -> None:
    text = "tea tea tea " + FILLING * 10 + "green tea from Kyoto " + FILLING * 10
    assert "green tea from Kyoto" in excerpt(text, ["green", "tea", "Kyoto"])


def test_another_form_of_the_word_is_found() -> None:
    assert "collects old maps" in excerpt(FILLING * 10 + "Tom collects old maps. " + FILLING * 10, ["collecting"])


def test_without_a_matching_word_the_beginning_is_shown() -> None:
    found = excerpt(FILLING * 20, ["zebra"])
    assert found.startswith("The weather")
    assert found.endswith(" …")


@given(st.text(max_size=2000), st.lists(st.text(max_size=8), max_size=3))
def test_an_excerpt_is_never_longer_than_the_limit_and_has_only_words_of_the_text(text: str, terms: list[str]) -> None:
    found = excerpt(text, terms)
    assert len(found) <= MOST_CHARACTERS + 4
    flat = " ".join(text.split())
    assert " ".join(found.removeprefix("… ").removesuffix(" …").split()) in flat or "…" in text


@pytest.mark.parametrize("text", ["x" * 5000, "x" * 5000 + " end"])
def test_a_text_without_spaces_is_cut_where_it_is(text: str) -> None:
    assert excerpt(text, ["nothing"]).startswith("x" * 300)
