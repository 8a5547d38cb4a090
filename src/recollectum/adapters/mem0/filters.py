"""Decides which memories a filter of mem0 takes: fields with operators, and AND, OR and NOT of filters."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

Fields = Mapping[str, object]

#: The ids that scope a memory; every search needs one of them.
SCOPES = ("user_id", "agent_id", "run_id")
_ANY = "*"
_TESTS: Mapping[str, Callable[[object, object], bool]] = {
    "eq": lambda value, other: value == other,
    "ne": lambda value, other: value != other,
    "gt": lambda value, other: _order(value, other) == 1,
    "gte": lambda value, other: _order(value, other) in (0, 1),
    "lt": lambda value, other: _order(value, other) == -1,
    "lte": lambda value, other: _order(value, other) in (-1, 0),
    "in": lambda value, other: value in cast("Sequence[object]", other),
    "nin": lambda value, other: value not in cast("Sequence[object]", other),
    "contains": lambda value, other: isinstance(value, str) and str(other) in value,
    "icontains": lambda value, other: isinstance(value, str) and str(other).casefold() in value.casefold(),
}


def fits(fields: Fields, wanted: Fields) -> bool:
    """Return whether the fields of a memory are those that a filter asks for."""
    return all(_fits(fields, name, value) for name, value in wanted.items())


def _fits(fields: Fields, name: str, wanted: object) -> bool:
    if name in ("AND", "OR", "NOT"):
        several = [fits(fields, one) for one in cast("Sequence[Fields]", wanted)]
        return all(several) if name == "AND" else any(several) if name == "OR" else not any(several)
    value = fields.get(name)
    if wanted == _ANY:
        return value is not None
    if isinstance(wanted, Mapping):
        return all(_test(operator)(value, other) for operator, other in cast("Fields", wanted).items())
    return value == wanted


def _test(operator: str) -> Callable[[object, object], bool]:
    if operator not in _TESTS:
        raise ValueError(f"Unsupported filter operator: {operator!r}; use {', '.join(_TESTS)}")
    return _TESTS[operator]


def _order(value: object, other: object) -> int | None:
    if isinstance(value, str) and isinstance(other, str):
        return (value > other) - (value < other)
    if isinstance(value, int | float) and isinstance(other, int | float):
        return (value > other) - (value < other)
    return None


def scopes_of(filters: Fields) -> dict[str, str]:
    """Return the ids that a filter names, also inside an AND; raise when it names none."""
    found = {name: str(filters[name]) for name in SCOPES if isinstance(filters.get(name), str | int)}
    for one in cast("Sequence[Fields]", filters.get("AND", ())):
        found |= {name: str(one[name]) for name in SCOPES if isinstance(one.get(name), str | int)}
    if not found:
        raise ValueError("filters must contain at least one of: user_id, agent_id, run_id.")
    return found
