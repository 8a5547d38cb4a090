"""Fingerprints: what counts as saying the same thing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.text.terms import similarity
from recollectum.text.terms.similarity import fingerprint, jaccard

SAME = [
    ("I like tea", "i LIKE,  tea!!"),
    ("The cat sat on a mat", "cat sat on mat."),
    ("Please just remember I am really very tired", "remember I am tired"),
    ("I don't like it", "I dont like it"),
    ("Don’t", "don't"),
    ("cafe\u0301", "CAFÉ"),
    ("ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
    ("**bold** `code`", "bold code"),
    ("love ❤️", "love ❤"),
    ("Straße", "STRASSE"),
    ("it is −5 outside", "it is -5 outside"),
]
DIFFERENT = [
    ("I like tea", "I don't like tea"),
    ("I like tea", "I do not like tea"),
    ("PIN 4321", "PIN 4322"),
    ("Alice loves Bob", "Bob loves Alice"),
    ("C", "C++"),
    ("C", "C#"),
    ("tea 👍", "tea"),
    ("tea 👍", "tea 👎"),
    ("pi is 3.14", "pi is 314"),
    ("pi is 3.14", "pi is 3 14"),
    ("it is -5 outside", "it is 5 outside"),
    ("at 10:30", "at 1030"),
    ("5% off", "5 off"),
    ("5€", "5$"),
    ("vitamin A", "vitamin"),
    ("resume", "résumé"),
    ("now here", "nowhere"),
    ("the", "a"),
    ("the", "The"),
    ("?", "!"),
    ("", " "),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_says_the_same(a: str, b: str) -> None:
    assert fingerprint(a) == fingerprint(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_says_something_else(a: str, b: str) -> None:
    assert fingerprint(a) != fingerprint(b)


def test_form_and_value_are_fixed() -> None:
    """A stored fingerprint must mean the same for ever: change the version when this changes."""
    assert re.fullmatch("f1:[0-9a-f]{32}", fingerprint("anything"))
    assert fingerprint("I like tea") == "f1:b65be31c9518cbc1bbf093942d003710"


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("", "", 1.0),
        ("a b", "", 0.0),
        ("tea", "tea", 1.0),
        ("I like tea", "I like green tea", 0.75),
        ("绿茶", "茶绿", 0.0),
    ],
)
def test_jaccard_is_the_share_of_terms_in_common(a: str, b: str, share: float) -> None:
    assert jaccard(a, b) == jaccard(b, a) == share


@given(st.text(st.characters(max_codepoint=127), max_size=60) | st.text("aThe 'x-3.#_`\0\x1f", max_size=60))
def test_plain_text_has_the_fingerprint_of_text_with_an_invisible_character(text: str) -> None:
    """Text in ASCII is read faster than other text."""
    assert fingerprint(f"tea {text}") == fingerprint(f"tea {text}\u200b")


@given(st.text(st.characters(max_codepoint=127), max_size=60), st.sampled_from(["", "{", '["', " -5 ", "a", "c#"]))
def test_the_quick_pattern_for_ascii_finds_the_same_words(text: str, more: str) -> None:
    written = f"{text}{more}{text}".lower().replace("'", "")
    every = similarity._WORDS.findall(written)  # pyright: ignore[reportPrivateUsage]
    telling = [one for one in every if len(one) > 1 or similarity._counts(one)]  # pyright: ignore[reportPrivateUsage]
    assert similarity._ASCII_WORDS.findall(written) == telling  # pyright: ignore[reportPrivateUsage]
