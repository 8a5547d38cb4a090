"""The quick look before the searches passes over no text in which one of them finds a secret."""

import json
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.redaction_examples import FORMED, NAMED, examples, ordinary_lines
from recollectum.domain.message import Json
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
    assert not (found and is_plain(text))
    if found and text.isascii() and not find_long_words(text):
        assert may_tell(text, text.lower())


@given(st.lists(st.one_of(_PIECES, _PIECES, _ASCII), max_size=14).map("".join))
def test_no_text_of_names_signs_and_values_is_passed_over(text: str) -> None:
    _check(text)


@given(st.lists(_PIECES, max_size=14).map(" ".join))
def test_no_sentence_of_them_is_passed_over(text: str) -> None:
    _check(text)


#: Those that look most like a card, an account, a PIN or a recovery code.
_ODD_UUIDS = (
    "41111111-1111-1111-1111-111111111111",
    "de893704-0044-0532-0130-000000000000",
    "12345678-1234-1234-1234-123456789012",
    "00004821-4821-4821-4821-482148214821",
    "ab12cd34-ef56-ab12-cd34-ef56ab12cd34",
    "deadbeef-dead-beef-dead-beefdeadbeef",
)
_UUIDS = st.one_of(st.sampled_from(_ODD_UUIDS), st.uuids().map(str), st.uuids().map(lambda one: str(one).upper()))


@settings(max_examples=400)
@given(st.lists(st.one_of(_UUIDS, _PIECES, _ASCII), max_size=10), st.sampled_from(["", " ", '": "', "-", "\n"]))
def test_no_secret_beside_a_uuid_is_passed_over(pieces: list[str], between: str) -> None:
    _check(between.join(pieces))


@pytest.mark.parametrize(
    "text",
    [
        "the item 0b9e4a77-5f0c-4f4e-9d27-a3b1c2d4e5f6 is blue",
        '{"body": {"text": "I like tea"}, "name": "de893704-0044-4532-8130-0123456789ab", "mark": "cbzhihs3"}',
    ],
)
def test_a_uuid_that_nothing_calls_a_secret_needs_no_search(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize(
    "text",
    [
        "the token is 0b9e4a77-5f0c-4f4e-9d27-a3b1c2d4e5f6",
        "password: 0b9e4a77-5f0c-4f4e-9d27-a3b1c2d4e5f6",
        "Authorization: Bearer 0b9e4a77-5f0c-4f4e-9d27-a3b1c2d4e5f6",
        "pat-na1-0b9e4a77-5f0c-4f4e-9d27-a3b1c2d4e5f6",
        "0b9e4a77-5f0c-4f4e-9d27-a3b1c2d4e5f6 paid with 4111 1111 1111 1111",
    ],
)
def test_one_that_is_called_a_secret_is_searched(text: str) -> None:
    assert not is_plain(text)
    assert _found(text)


@given(st.lists(_PIECES, max_size=3).map("".join), st.lists(st.one_of(_PIECES, _ASCII), max_size=14).map("".join))
def test_what_is_plain_under_a_name_is_plain_alone(name: str, text: str) -> None:
    if is_plain(f'"{name}": "{text}"'):
        assert is_plain(text)
        assert not _found(text)


_TEXTS = st.lists(st.one_of(_PIECES, _ASCII), max_size=6).map("".join)
_VALUES = st.recursive(
    st.one_of(_TEXTS, st.integers(0, 10**16)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXTS, inner, max_size=3)),
    max_leaves=6,
)


@given(st.dictionaries(_TEXTS, _VALUES, min_size=1, max_size=3), st.sampled_from([(", ", ": "), (",", ":")]))
def test_what_is_plain_as_json_is_plain_in_each_of_its_texts(
    value: dict[str, Json], separators: tuple[str, str]
) -> None:
    written = json.dumps(value, separators=separators)
    if "\\" not in written and is_plain(written):
        for name, text in _texts(value, ""):
            for part in (name, text, f'"{name}": "{text}"'):
                assert is_plain(part)
                assert not _found(part)


def _texts(value: Json, name: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a JSON value after the name that it is under."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from ((key, key), *_texts(inner, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, name)


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
        "In 2023 we moved to Porto; the flat cost 1450 a month, and order 20417 came on 2023-05-18T03:33:20+00:00.",
    ],
)
def test_ordinary_talk_needs_no_search(text: str) -> None:
    assert not may_tell(text, text.lower())


@pytest.mark.parametrize(
    "text",
    [
        "the pin is 4821",
        "PIN code: 00482",
        "her PIN for the safe is 73105, I think",
        "card 4111 1111 1111 1111 until 12/29",
        "378282246310005",
        "3782 822463 10005",
        "NO93 8601 1117 947",
        "no9386011117947",
        "BE68 5390 0754 7034",
        "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
    ],
)
def test_numbers_that_are_secrets_are_searched_for(text: str) -> None:
    assert _found(text)
    _check(text)


def test_lines_with_the_words_of_secrets_are_not_passed_over() -> None:
    for line in ordinary_lines(200):
        _check(line)
