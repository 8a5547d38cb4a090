"""Builds our values from the JSON of a server: the counterpart of `doors.json_values`.

A field that this version does not know is ignored, and one that an older server does not send has its default.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import HomeError, RecollectumError
from recollectum.domain.notice import BESIDE
from recollectum.domain.session import SessionKey

T = TypeVar("T")
_PARSED: Mapping[object, Callable[[str], object]] = {
    datetime: datetime.fromisoformat,
    Owner: Owner.parse,
    SessionKey: SessionKey.parse,
}


class _Misfit(Exception):
    """Raised for JSON that is not a value of the wanted type."""


def decode(kind: type[T], value: object, what: str) -> T:
    """Return the value of a type; raise when the server sent something else."""
    try:
        return cast("T", _decode(kind, value))
    except (_Misfit, RecollectumError, ValueError, OverflowError):
        raise HomeError(
            f"the server sent {what} in a form that this version does not know; use the same version on both machines"
        ) from None


def decode_list(kind: type[T], value: object, what: str) -> list[T]:
    """Return a list of values of a type."""
    if not isinstance(value, list):
        raise HomeError(f"the server sent no list of {what}; use the same version on both machines")
    return [decode(kind, one, what) for one in cast("list[object]", value)]


def _decode(kind: Any, value: object) -> object:  # noqa: ANN401 - any annotation of our dataclasses
    if isinstance(kind, type) and is_dataclass(kind) and kind not in _PARSED:
        return _record(kind, value)
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _one_of(get_args(kind), value)
    if origin is not None:
        return _container(origin, get_args(kind), value)
    if kind in _PARSED:
        if not isinstance(value, str):
            raise _Misfit
        return _PARSED[kind](value)
    return _plain(kind, value)


def _plain(kind: Any, value: object) -> object:  # noqa: ANN401 - see above
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if kind in (str, int, float, bool, NoneType):
        if type(value) is not kind:
            raise _Misfit
        return value
    # A field that holds any JSON.
    return value


def _one_of(kinds: Sequence[Any], value: object) -> object:
    for kind in kinds:
        try:
            return _decode(kind, value)
        except (_Misfit, RecollectumError, ValueError):
            continue
    raise _Misfit


def _container(origin: Any, inner: Sequence[Any], value: object) -> object:  # noqa: ANN401 - see above
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise _Misfit
        items = cast("dict[str, object]", value).items()
        return {cast("Any", _decode(inner[0], name)): _decode(inner[1], one) for name, one in items}
    if not isinstance(value, list):
        raise _Misfit
    given = cast("list[object]", value)
    if origin is tuple and inner[-1] is not Ellipsis:
        if len(given) != len(inner):
            raise _Misfit
        return tuple(_decode(kind, one) for kind, one in zip(inner, given, strict=True))
    made = [_decode(inner[0], one) for one in given]
    return tuple(made) if origin is tuple else frozenset(made) if origin is frozenset else made


@cache
def _shape(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    """Return the name, the type and whether it is needed, of each field that the JSON of a class has."""
    hints = get_type_hints(kind)
    return tuple(
        (one.name, hints[one.name], one.default is MISSING and one.default_factory is MISSING)
        for one in fields(kind)
        if not one.metadata.keys() & BESIDE.keys()
    )


def _record(kind: type, value: object) -> object:
    if not isinstance(value, dict):
        raise _Misfit
    given = cast("dict[str, object]", value)
    made: dict[str, object] = {}
    for name, wanted, needed in _shape(kind):
        if name in given:
            made[name] = _decode(wanted, given[name])
        elif needed:
            raise _Misfit
    return kind(**made)
