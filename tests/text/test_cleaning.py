"""Cleaning: what is replaced, what is refused, and that the rest is left alone."""

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.text.cleaning import MAX_DEPTH, clean, clean_json


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        ("a\0b", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("\udfff", "\ufffd"),
        ("end \ud83d", "end \ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("é\0", "é\ufffd"),
        ("\ufeffé\r\n\x01\u200d", "\ufeffé\r\n\x01\u200d"),
    ],
)
def test_only_what_cannot_be_stored_is_replaced(dirty: str, cleaned: str) -> None:
    assert clean(dirty) == cleaned


@pytest.mark.parametrize("text", ["", "plain", "naïve 日本 😀"])
def test_clean_text_is_the_same_object(text: str) -> None:
    assert clean(text) is text


def test_json_is_cleaned_all_the_way_down() -> None:
    value: Json = {"a\0": ["\ud800", {"b": "x\0"}], "n": [1, 2.5, True, None, 2**70]}
    assert clean_json(value) == {"a\ufffd": ["\ufffd", {"b": "x\ufffd"}], "n": [1, 2.5, True, None, 2**70]}


def test_clean_json_is_the_same_object_and_plain() -> None:
    value: Json = {"a": [1, {"b": "c"}]}
    assert clean_json(value) is value
    assert clean_json({"a": ("b",)}) == {"a": ["b"]}


def nested(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "nan is not a JSON number"),
        ([float("inf")], "inf is not a JSON number"),
        ({"a": float("-inf")}, "-inf is not a JSON number"),
        (nested(MAX_DEPTH + 1), "nested more than 100 deep"),
        ({1: "a"}, "key 1 is not text"),
        ({"a": b"x"}, "a bytes is not a JSON value"),
        ({"a": {1, 2}}, "a set is not a JSON value"),
        ([10**5000], "too long for JSON"),
        ([3, -(10**5000)], "too long for JSON"),
        ([3, float("nan")], "nan is not a JSON number"),
        ({"a\0": 1, "a\ufffd": 2}, "two JSON keys differ only"),
    ],
)
def test_what_json_cannot_say_again_is_refused(value: Json, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        clean_json(value)


def test_the_deepest_allowed_value_passes() -> None:
    assert clean_json(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
