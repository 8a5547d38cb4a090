"""Parses JSON from other programs strictly and reads typed fields from it."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NoReturn, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Part
from recollectum.text.cleaning import clean_json

_MAX_CONTAINERS = 500_000


def parse(text: str) -> Json:
    """Return the value of a JSON text, cleaned for a database.

    Reject duplicate keys, NaN, infinity, depth bombs, and values that a database cannot hold.
    """
    return clean_json(parse_raw(text))


def parse_raw(text: str) -> Json:
    """Return the value of a JSON text, without cleaning strings and checking the depth."""
    # Two bytes of text become an object of 64 bytes, so a text full of brackets would use too much memory.
    if len(text) > _MAX_CONTAINERS and text.count("{") + text.count("[") > _MAX_CONTAINERS:
        raise InvalidInput(f"it holds more than {_MAX_CONTAINERS} objects and lists")
    try:
        return cast("Json", _DECODER.decode(text))
    except json.JSONDecodeError as error:
        # Only the kind of error is passed on: the parser's message must not quote the text.
        raise InvalidInput(f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InvalidInput("it is nested too deep to be read") from None
    except ValueError:
        # The remaining case is an integer with more digits than Python converts.
        raise InvalidInput("it holds a number that is too long") from None


def canonical(value: Json) -> bytes:
    """Return the canonical JSON of a value, for checksums and for lines that must always be the same."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInput("it holds a key twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInput(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)
#: The largest integer that every database holds.
_MAX_INTEGER = 2**63 - 1


def as_object(value: Json, place: str) -> dict[str, Json]:
    """Return the value as an object."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} is not an object")
    return value


def as_list(value: Json, place: str) -> list[Json]:
    """Return the value as a list."""
    if not isinstance(value, list):
        raise InvalidInput(f"{place} is not a list")
    return value


def as_objects(value: Json, place: str) -> tuple[Part, ...]:
    """Return the value as a list of objects."""
    return tuple(as_object(item, f"{place}[{index}]") for index, item in enumerate(as_list(value, place)))


def as_time(value: Json, place: str) -> datetime:
    """Return the value as a time in UTC; a text without a time zone is invalid."""
    if not isinstance(value, str):
        raise InvalidInput(f"{place} is not a time")
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise InvalidInput(f"{place} has no time zone; end it with Z")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{place} is not an ISO 8601 time") from None


class Fields:
    """The fields of one object, each read once by name."""

    def __init__(self, value: Json, place: str) -> None:
        self._left = dict(as_object(value, place))
        self._place = place

    def text(self, name: str) -> str:
        """Return a required text."""
        value = self._left.pop(name, None)
        if not isinstance(value, str):
            raise InvalidInput(f"{self._at(name)} is not a text")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text that may be missing or null."""
        return self.text(name) if self._has(name) else None

    def time(self, name: str) -> datetime:
        """Return a required time."""
        return as_time(self._left.pop(name, None), self._at(name))

    def optional_time(self, name: str) -> datetime | None:
        """Return a time that may be missing or null."""
        return self.time(name) if self._has(name) else None

    def count(self, name: str) -> int:
        """Return a whole number from 0; 0 when it is missing."""
        value = self._left.pop(name, 0)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_INTEGER:
            raise InvalidInput(f"{self._at(name)} is not a whole number from 0")
        return value

    def optional_count(self, name: str) -> int | None:
        """Return a whole number from 0 that may be missing or null."""
        return self.count(name) if self._has(name) else None

    def objects(self, name: str) -> tuple[Part, ...]:
        """Return a list of objects; empty when it is missing or null."""
        value = self._left.pop(name, None)
        return () if value is None else as_objects(value, self._at(name))

    def object(self, name: str) -> Mapping[str, Json]:
        """Return an object; empty when it is missing or null."""
        value = self._left.pop(name, None)
        return {} if value is None else as_object(value, self._at(name))

    def value(self, name: str) -> Json:
        """Return any value; null when it is missing."""
        return self._left.pop(name, None)

    def rest(self) -> dict[str, Json]:
        """Return the fields that were not read."""
        return self._left

    def _at(self, name: str) -> str:
        return f"{self._place}.{name}"

    def _has(self, name: str) -> bool:
        """Return whether a field is present and not null, and mark it as read."""
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return False
        return True
