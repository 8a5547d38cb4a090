"""Decides which memories a filter of mem0 takes: fields with operators, and AND, OR and NOT of filters."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from recollectum.domain.errors import InvalidInput

Fields = Mapping[str, object]

#: The ids that scope a memory; every search needs one of them.
SCOPES = ("user_id", "agent_id", "app_id", "run_id")
ANY = "*"
_GROUPS = ("AND", "OR", "NOT")
_DEEPEST = 20
_TESTS: Mapping[str, Callable[[object, object], bool]] = {
    "eq": lambda value, other: value == other,
    "ne": lambda value, other: value not in (None, other),
    "gt": lambda value, other: _order(value, other) == 1,
    "gte": lambda value, other: _order(value, other) in (0, 1),
    "lt": lambda value, other: _order(value, other) == -1,
    "lte": lambda value, other: _order(value, other) in (-1, 0),
    "in": lambda value, other: value in cast("Sequence[object]", other),
    "nin": lambda value, other: value is not None and value not in cast("Sequence[object]", other),
    "contains": lambda value, other: isinstance(value, str) and str(other) in value,
    "icontains": lambda value, other: isinstance(value, str) and str(other).casefold() in value.casefold(),
}
_OF_LISTS = ("in", "nin")


class Refused(InvalidInput, ValueError):
    """Raised for a value that mem0 would refuse with a ValueError too."""


def fits(fields: Fields, wanted: Fields) -> bool:
    """Return whether the fields of a memory are those that a checked filter asks for."""
    return all(_fits(fields, name, value) for name, value in wanted.items())


def _fits(fields: Fields, name: str, wanted: object) -> bool:
    if name in _GROUPS:
        several = [fits(fields, one) for one in cast("Sequence[Fields]", wanted)]
        return all(several) if name == "AND" else any(several) if name == "OR" else not any(several)
    value = fields.get(name)
    if wanted == ANY:
        return value is not None
    if isinstance(wanted, Mapping):
        return all(_TESTS[operator](value, other) for operator, other in cast("Fields", wanted).items())
    return value in cast("list[object]", wanted) if isinstance(wanted, list) else value == wanted


def _order(value: object, other: object) -> int | None:
    if isinstance(value, str) and isinstance(other, str):
        return (value > other) - (value < other)
    if isinstance(value, int | float) and isinstance(other, int | float):
        return (value > other) - (value < other)
    return None


def check_filters(filters: Fields | None) -> Fields:
    """Return a filter with trimmed ids; raise for an unknown operator, a group that is no list, or one without ids."""
    checked = _checked(filters or {}, 0)
    if not any(name in SCOPES for name, _ in _named(checked)):
        raise Refused(f"filters must contain at least one of: {', '.join(SCOPES)}")
    return checked


def ids_of(filters: Fields, scope: str) -> set[str]:
    """Return the ids that a checked filter names for a scope, at any depth; a star names none."""
    found: set[str] = set()
    for name, value in _named(filters):
        if name != scope or value == ANY:
            continue
        if isinstance(value, str | list):
            found |= {value} if isinstance(value, str) else set(map(str, cast("list[object]", value)))
        elif isinstance(value, Mapping):
            tests = cast("Fields", value)
            several = [tests["eq"]] if "eq" in tests else cast("Sequence[object]", tests.get("in", ()))
            found |= set(map(str, several))
    return found


def _named(filters: Fields) -> Iterator[tuple[str, object]]:
    """Return every field of a filter with what is asked of it; what is under a NOT asks for nothing."""
    for name, value in filters.items():
        if name in ("AND", "OR"):
            for one in cast("Sequence[Fields]", value):
                yield from _named(one)
        elif name != "NOT":
            yield name, value


def _checked(filters: Fields, depth: int) -> Fields:
    if depth > _DEEPEST:
        raise Refused(f"filters are nested more than {_DEEPEST} deep; flatten them")
    return {name: _checked_one(name, value, depth) for name, value in filters.items()}


def _checked_one(name: str, value: object, depth: int) -> object:
    if name in _GROUPS:
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in cast("list[object]", value)):
            raise Refused(f"{name} in filters needs a list of filters")
        return [_checked(cast("Fields", one), depth + 1) for one in cast("list[object]", value)]
    if isinstance(value, Mapping):
        for operator, other in cast("Fields", value).items():
            if operator not in _TESTS:
                raise Refused(f"filter operator {operator!r} is unknown; use {', '.join(_TESTS)}")
            if operator in _OF_LISTS and not isinstance(other, list | tuple):
                raise Refused(f"filter operator {operator} needs a list")
        return cast("object", value)
    return check_id(name, value) if name in SCOPES and isinstance(value, str | int) else value


def check_id(name: str, value: object) -> str:
    """Return an id without the spaces around it; raise when it is empty or has some inside."""
    trimmed = str(value).strip()
    if not trimmed or any(char.isspace() for char in trimmed):
        raise Refused(f"Invalid {name}: cannot be empty or contain whitespace. Provide a valid identifier.")
    return trimmed
