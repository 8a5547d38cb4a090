"""Decides which items a search of a LangGraph store takes: by their values, and by their namespaces."""

from collections.abc import Mapping, Sequence
from typing import cast

from langgraph.store.base import MatchCondition

#: Each operator as what `_order` may answer.
_ORDERS: Mapping[str, tuple[int, ...]] = {"$gt": (1,), "$gte": (0, 1), "$lt": (-1,), "$lte": (-1, 0)}


def fits(value: Mapping[str, object], wanted: Mapping[str, object] | None) -> bool:
    """Return whether a value has every field that a filter names, with what the filter says about it."""
    return all(_compare(value.get(name), one) for name, one in (wanted or {}).items())


def _compare(value: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        named = cast("Mapping[str, object]", wanted)
        if any(name.startswith("$") for name in named):
            return all(_apply(value, name, other) for name, other in named.items())
        return isinstance(value, Mapping) and fits(cast("Mapping[str, object]", value), named)
    if isinstance(wanted, list | tuple):
        several = cast("Sequence[object]", wanted)
        if not isinstance(value, list | tuple):
            return False
        held = cast("Sequence[object]", value)
        return len(held) == len(several) and all(map(_compare, held, several))
    return value == wanted


def _apply(value: object, operator: str, wanted: object) -> bool:
    """Apply one operator. A missing value has no order and differs from nothing, as in SQL."""
    if operator == "$eq":
        return value == wanted
    if operator == "$ne":
        return value is not None and value != wanted
    if operator not in _ORDERS:
        raise ValueError(f"Unsupported operator: {operator}")
    return _order(value, wanted) in _ORDERS[operator]


def _order(value: object, other: object) -> int | None:
    """Return -1, 0 or 1 for two texts or two numbers; None for anything else."""
    if isinstance(value, str) and isinstance(other, str):
        return (value > other) - (value < other)
    if isinstance(value, int | float) and isinstance(other, int | float):
        return (value > other) - (value < other)
    return None


def matches(namespace: tuple[str, ...], conditions: Sequence[MatchCondition]) -> bool:
    """Return whether a namespace begins and ends as the conditions say; `*` stands for any label."""
    return all(_matches(namespace, condition) for condition in conditions)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    size = len(condition.path)
    if size > len(namespace):
        return False
    part = namespace[:size] if condition.match_type == "prefix" else namespace[len(namespace) - size :]
    return all(wanted in ("*", label) for wanted, label in zip(condition.path, part, strict=True))
