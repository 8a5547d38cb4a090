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
    """The value of a JSON text: no key twice, no NaN or infinity, no depth bomb, nothing a database cannot hold."""
    return clean_json(parse_raw(text))


def parse_raw(text: str) -> Json:
    """The same, but strings and depth are as they were written."""
    # Two bytes of text make an object of sixty-four; what is all brackets would swell beyond any file's size.
    if len(text) > _MAX_CONTAINERS and text.count("{") + text.count("[") > _MAX_CONTAINERS:
        raise InvalidInput(f"it holds more than {_MAX_CONTAINERS} objects and lists")
    try:
        return cast("Json", _DECODER.decode(text))
    except json.JSONDecodeError as error:
        # The reader's own words are kept to the kind of fault: they never quote the text.
        raise InvalidInput(f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InvalidInput("it is nested too deep to be read") from None
    except ValueError:
        # What is left is an integer of more digits than Python converts.
        raise InvalidInput("it holds a number that is too long") from None


def canonical(value: Json) -> bytes:
    """The one spelling of a value, for checksums and for lines that must come out the same every time."""
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
    """The value as an object."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} is not an object")
    return value


def as_list(value: Json, place: str) -> list[Json]:
    """The value as a list."""
    if not isinstance(value, list):
        raise InvalidInput(f"{place} is not a list")
    return value


def as_objects(value: Json, place: str) -> tuple[Part, ...]:
    """The value as a list of objects."""
    return tuple(as_object(item, f"{place}[{index}]") for index, item in enumerate(as_list(value, place)))


def as_time(value: Json, place: str) -> datetime:
    """The value as a moment in UTC; a text without a zone is not one."""
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
    """The fields of one object, each read once under its name."""

    def __init__(self, value: Json, place: str) -> None:
        self._left = dict(as_object(value, place))
        self._place = place

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self._left.pop(name, None)
        if not isinstance(value, str):
            raise InvalidInput(f"{self._at(name)} is not a text")
        return value

    def optional_text(self, name: str) -> str | None:
        """A text that may be missing or null."""
        return self.text(name) if self._has(name) else None

    def time(self, name: str) -> datetime:
        """A time that must be there."""
        return as_time(self._left.pop(name, None), self._at(name))

    def optional_time(self, name: str) -> datetime | None:
        """A time that may be missing or null."""
        return self.time(name) if self._has(name) else None

    def count(self, name: str) -> int:
        """A whole number from 0, and 0 when it is missing."""
        value = self._left.pop(name, 0)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_INTEGER:
            raise InvalidInput(f"{self._at(name)} is not a whole number from 0")
        return value

    def optional_count(self, name: str) -> int | None:
        """A whole number from 0 that may be missing or null."""
        return self.count(name) if self._has(name) else None

    def objects(self, name: str) -> tuple[Part, ...]:
        """A list of objects, empty when it is missing or null."""
        value = self._left.pop(name, None)
        return () if value is None else as_objects(value, self._at(name))

    def object(self, name: str) -> Mapping[str, Json]:
        """An object, empty when it is missing or null."""
        value = self._left.pop(name, None)
        return {} if value is None else as_object(value, self._at(name))

    def value(self, name: str) -> Json:
        """Any value, null when it is missing."""
        return self._left.pop(name, None)

    def rest(self) -> dict[str, Json]:
        """What nobody asked for."""
        return self._left

    def _at(self, name: str) -> str:
        return f"{self._place}.{name}"

    def _has(self, name: str) -> bool:
        """Whether there is more than a null, which is read here and now."""
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return False
        return True
