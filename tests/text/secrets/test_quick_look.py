"""The quick look before the searches passes over no text in which one of them finds a secret."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.redaction_examples import FORMED, NAMED, examples, ordinary_lines
from recollectum.text.secrets import redaction
from recollectum.text.secrets.command_lines import PROGRAMS
from recollectum.text.secrets.languages import ASCII_NAMES
from recollectum.text.secrets.long_words import find_long_words
from recollectum.text.secrets.redaction import is_plain, may_tell
from recollectum.text.secrets.span import Span
from recollectum.text.secrets.tokens import _IN_TEXT  # pyright: ignore[reportPrivateUsage]
from recollectum.text.secrets.wallets import HINTS

#: What names, formats and values of secrets are made of, and what may stand between them.
_WORDS = (
    "password passwd passcode passphrase pass pwd pw PIN pin_code secret token key api_key credential credentials aws "
    "Authorization Basic Bearer otpauth seed wallet recovery backup word words phrase mnemonic private Private-Lines "
    "BEGIN PRIVATE KEY END user sk ghp eyJ is was to for -p -u --user --token DE89 NO93 hunter2! 4821 s3cret ab12 a1 "
    "x 41 4111 1111 3704 0044 ada:p4ss abcdefgh correct horse 2024-05-01 %5F %2D -- :// => := ->"
)
_SIGNS = (*" \t\n\r\x1c\x0b\"'`=:;,.!?@#$%^&*+~-_/\\()[]{}<>|", " -", "  ", ": ", " = ")
_PIECES = st.sampled_from([*_WORDS.split(), *_SIGNS, *HINTS, *PROGRAMS, *ASCII_NAMES, *(hint for hint, _ in _IN_TEXT)])
_ASCII = st.text(st.characters(max_codepoint=127), max_size=12)


def _found(text: str) -> list[Span]:
    """What all searches find, without the quick look."""
    return list(redaction._found_by_all(text, text.lower(), find_long_words(text)))  # pyright: ignore[reportPrivateUsage]


def _check(text: str) -> None:
    found = _found(text)
    assert list(redaction._spans(text)) == found  # pyright: ignore[reportPrivateUsage]
    if found and text.isascii() and not find_long_words(text):
        assert may_tell(text, text.lower())


@given(st.lists(st.one_of(_PIECES, _PIECES, _ASCII), max_size=14).map("".join))
def test_no_text_of_names_signs_and_values_is_passed_over(text: str) -> None:
    _check(text)


@given(st.lists(_PIECES, max_size=14).map(" ".join))
def test_no_sentence_of_them_is_passed_over(text: str) -> None:
    _check(text)


@given(st.lists(_PIECES, max_size=3).map("".join), st.lists(st.one_of(_PIECES, _ASCII), max_size=14).map("".join))
def test_what_is_plain_under_a_name_is_plain_alone(name: str, text: str) -> None:
    if is_plain(f'"{name}": "{text}"'):
        assert is_plain(text)
        assert not _found(text)


@pytest.mark.parametrize("kind", [*FORMED, *NAMED])
def test_no_part_of_an_example_is_passed_over(kind: str) -> None:
    chance = random.Random(kind)
    for text, _ in examples(kind, 25):
        _check(text)
        for _ in range(8):
            start = chance.randrange(len(text))
            part = text[start : start + chance.randrange(8, 80)]
            # A space in it makes long words short, which the quick look relies upon.
            cut = chance.randrange(len(part) + 1)
            _check(part)
            _check(f"{part[:cut]} {part[cut:]}")


@pytest.mark.parametrize(
    "text",
    [
        "Grace is my girlfriend",
        "I think we should take the blue one - it's cheaper, and the reviews were better than I expected!",
        "Her flight to Lisbon leaves at 14:35 on Friday, gate 12; she wants a window seat (row 20 to 25).",
        "Don't call before 8 am, he said; the 21st is fine.",
    ],
)
def test_ordinary_talk_needs_no_search(text: str) -> None:
    assert not may_tell(text, text.lower())


def test_lines_with_the_words_of_secrets_are_not_passed_over() -> None:
    for line in ordinary_lines(200):
        _check(line)
