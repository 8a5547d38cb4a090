"""A text of words that only join others names no time, so that nothing need be tried on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.text.time import ranges
from recollectum.text.time.calendar_forms import date_forms
from recollectum.text.time.combined_forms import direction_forms, pair_forms, part_forms
from recollectum.text.time.patterns import reduce_tokens
from recollectum.text.time.ranges import time_ranges
from recollectum.text.time.relative_forms import relative_forms
from recollectum.text.time.tokens import Token, tokens
from recollectum.text.time.words import vocabulary
from tests.text.time.test_ranges import TODAY

TIMELESS = sorted(ranges._TIMELESS)  # pyright: ignore[reportPrivateUsage]
#: Tags of no word in the vocabulary.
_OTHERS = {"z": ("boats", "Ähre", "北京"), "!": ("?", "(", "…"), "#": ("%", "€")}


def _words(tag: str) -> list[str]:
    known = [word for word, (its_tag, _) in vocabulary()[0].items() if its_tag == tag]
    return [*known, *_OTHERS.get(tag, ())]


def _understood(found: list[Token]) -> list[Token]:
    """What all forms make of tokens, none of them spared."""
    for forms in ((*date_forms(), *relative_forms()), part_forms(), pair_forms(), direction_forms()):
        found = reduce_tokens(found, forms, TODAY)
    return [token for token in found if token.readings]


@pytest.mark.parametrize("tag", TIMELESS)
def test_every_such_tag_has_words(tag: str) -> None:
    words = _words(tag)
    assert words
    for word in words:
        assert [token.tag for token in tokens(word)] == [tag], word


@pytest.mark.parametrize("first", TIMELESS)
def test_up_to_three_such_tags_make_no_time(first: str) -> None:
    for tags in ([first], *([first, second, *third] for second in TIMELESS for third in ("", *TIMELESS))):
        # Some forms look at the values, so that a tag alone would say too little.
        values = (0, 1, 2)
        for value in values:
            assert not _understood([Token(tag, place, place + 1, value) for place, tag in enumerate(tags)]), tags


@given(st.lists(st.sampled_from([word for tag in TIMELESS for word in _words(tag)]), max_size=6))
def test_texts_of_such_words_name_no_time(words: list[str]) -> None:
    text = " ".join(words)
    found = tokens(text)
    # Side by side some words are a phrase with a meaning of its own.
    assert bool(time_ranges(text, TODAY)) == bool(_understood(found))
    if all(token.tag in TIMELESS for token in found):
        assert not _understood(found)


@pytest.mark.parametrize("text", ["", "?", "who is she?", "in the end of it all", "from a to b", "between you and me"])
def test_texts_without_a_word_of_time_name_none(text: str) -> None:
    assert time_ranges(text, TODAY) == ()
    assert not _understood(tokens(text))


@pytest.mark.parametrize(
    "text", ["the other day", "in the last week", "at this weekend", "in May", "on the 3rd", "in the 90s"]
)
def test_one_word_of_time_among_them_is_enough(text: str) -> None:
    assert time_ranges(text, TODAY)
