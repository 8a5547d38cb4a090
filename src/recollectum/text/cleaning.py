"""Replaces or rejects what a database cannot store: lone surrogates, NUL, and values that are not JSON."""

from collections.abc import Mapping, Sequence
from math import isfinite
from operator import is_
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json

MAX_DEPTH = 100
# Python writes and reads integers of up to 4,300 digits; 14,000 bits stay below that.
_MAX_BITS = 14_000
_JUST_INTEGERS = frozenset({int})


def clean(text: str) -> str:
    """Return the text with every NUL and lone surrogate replaced by U+FFFD, and nothing else changed."""
    # An ASCII string has a flag that says so, so this returns at once for most text.
    if "\0" not in text and (text.isascii() or _is_encodable(text)):
        return text
    # In UTF-16, two surrogates that belong together (from a stream cut between them) join again, and only a lone one is
    # replaced.
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", "\ufffd")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean_json(value: Json) -> Json:
    """Return the JSON value with every string cleaned, itself if nothing is wrong; raise if it is not JSON."""
    return _clean(value, 0)


def _clean(value: object, depth: int) -> Json:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"JSON value is nested more than {MAX_DEPTH} deep; flatten it")
    match value:
        case str():
            return clean(value)
        case None | bool():
            return value
        case int():
            return _whole(value)
        case float():
            return _finite(value)
        case Mapping():
            return _clean_object(cast("Mapping[object, object]", value), depth)
        case list() | tuple():
            return _clean_list(cast("Sequence[object]", value), depth)
        case _:
            raise InvalidInput(f"a {type(value).__name__} is not a JSON value; use text, numbers, lists and objects")


def _clean_list(value: Sequence[object], depth: int) -> list[Json]:
    if value and depth < MAX_DEPTH and isinstance(value, list) and _JUST_INTEGERS.issuperset(map(type, value)):
        # Packed state is a list of many numbers; if the greatest is not too long, none is.
        _whole(max(map(abs, cast("list[int]", value))))
        return cast("list[Json]", value)
    cleaned = [_clean(item, depth + 1) for item in value]
    # Returning the given object avoids a second copy of a large value.
    return cast("list[Json]", value) if isinstance(value, list) and all(map(is_, cleaned, value)) else cleaned


def _clean_object(value: Mapping[object, object], depth: int) -> Mapping[str, Json]:
    cleaned: dict[str, Json] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidInput(f"JSON key {key!r} is not text; write it as a string")
        name = clean(key)
        if name in cleaned:
            raise InvalidInput("two JSON keys differ only in characters that cannot be stored; rename one")
        cleaned[name] = _clean(item, depth + 1)
    same = isinstance(value, dict) and all(map(is_, cleaned, value)) and all(map(is_, cleaned.values(), value.values()))
    return cast("dict[str, Json]", value) if same else cleaned


def _whole(value: int) -> int:
    if value.bit_length() > _MAX_BITS:
        raise InvalidInput(f"integer of {value.bit_length()} bits is too long for JSON; write it as text")
    return value


def _finite(value: float) -> float:
    if not isfinite(value):
        raise InvalidInput(f"{value} is not a JSON number; use null or text")
    return value
