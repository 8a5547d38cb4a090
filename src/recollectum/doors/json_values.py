"""Turns our values into JSON: a dataclass becomes an object, a time ISO 8601, an owner its text."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

from recollectum.domain.access.owner import Owner
from recollectum.domain.access.person import Identity
from recollectum.domain.message import Json
from recollectum.domain.notice import BESIDE
from recollectum.domain.session import SessionKey

_PLAIN = frozenset({type(None), bool, int, float, str})
AS_TEXT = (Identity, Owner, Path, SessionKey)


def to_json(value: object) -> Json:
    """Return the value as JSON."""
    if type(value) in _PLAIN:
        return cast("Json", value)
    match value:
        case Enum():
            return cast("Json", value.value)
        case date():
            return value.isoformat()
        case list() | tuple():
            return [to_json(one) for one in cast("list[object]", value)]
        case _ if isinstance(value, AS_TEXT):
            return str(value)
        case _:
            return _compound(value)


def _compound(value: object) -> Json:
    if is_dataclass(value):
        return {name: to_json(get(value)) for name, get in _fields(type(value))}
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(name): to_json(inner) for name, inner in items}
    if isinstance(value, AbstractSet):
        return sorted(str(to_json(one)) for one in cast("AbstractSet[object]", value))
    raise TypeError(f"{type(value).__name__} has no JSON form")


@cache
def _fields(kind: type) -> tuple[tuple[str, Callable[[Any], object]], ...]:
    # Cached for each class: a page of memories has thousands of fields.
    return tuple((name, attrgetter(name)) for name in json_names(kind))


def json_names(kind: type) -> tuple[str, ...]:
    """Return the names of the fields that the JSON of a dataclass has."""
    return tuple(one.name for one in fields(kind) if not one.metadata.keys() & BESIDE.keys())
