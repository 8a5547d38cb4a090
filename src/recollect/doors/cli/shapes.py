"""Our values as JSON: a dataclass is an object with its fields, a time is ISO 8601, an owner is its text."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import cast

from recollect.domain.identity import Identity
from recollect.domain.message import Json
from recollect.domain.owner import Owner
from recollect.domain.session import SessionKey

_AS_TEXT = (Identity, Owner, Path, SessionKey)


def to_json(value: object) -> Json:
    """The value as JSON knows it."""
    match value:
        case Enum():
            return to_json(value.value)
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case _ if isinstance(value, _AS_TEXT):
            return str(value)
        case _:
            return _compound(value)


def _compound(value: object) -> Json:
    if is_dataclass(value):
        return {one.name: to_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(name): to_json(inner) for name, inner in items}
    if isinstance(value, AbstractSet):
        return sorted(str(to_json(one)) for one in cast("AbstractSet[object]", value))
    if isinstance(value, list | tuple):
        return [to_json(one) for one in cast("list[object]", value)]
    raise TypeError(f"{type(value).__name__} has no JSON form")
