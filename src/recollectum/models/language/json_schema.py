"""Checks a JSON value against the subset of JSON Schema that answers and tools need, and adapts schemas to a server."""

import re
from collections.abc import Mapping, Sequence, Set
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json

Schema = Mapping[str, Json]
_NOTES = frozenset({"$schema", "title", "description", "default", "examples"})
_RULES = frozenset(
    {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "anyOf",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
    }
)
_KINDS: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list, tuple),
    "object": (dict,),
}


def explain_misfit(value: Json, schema: Schema, place: str = "the value") -> str | None:
    """Return what is wrong with the value, without quoting it; None if it fits."""
    _check_known(schema)
    return _kind(value, schema, place) or _choice(value, schema, place) or _inside(value, schema, place)


def _check_known(schema: Schema) -> None:
    # A keyword that is not supported must not count as satisfied.
    if unknown := sorted(schema.keys() - _NOTES - _RULES):
        raise InvalidInput(f"the schema uses {unknown[0]!r}, which is not supported; use {', '.join(sorted(_RULES))}")


def _kind(value: Json, schema: Schema, place: str) -> str | None:
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(cast("Sequence[str]", wanted or ()))
    if not names or any(_is_kind(value, name) for name in names):
        return None
    return f"{place} must be of type {' or '.join(names)}"


def _is_kind(value: Json, name: str) -> bool:
    # In Python, True is a number; in JSON it is not.
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _KINDS.get(name, ()))


def _choice(value: Json, schema: Schema, place: str) -> str | None:
    allowed = cast("Sequence[Json]", schema.get("enum", ()))
    if "enum" in schema and not any(_same(value, one) for one in allowed):
        return f"{place} must be one of {', '.join(map(str, allowed))}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{place} must be the one allowed value"
    branches = cast("Sequence[Schema]", schema.get("anyOf", ()))
    if branches and all(explain_misfit(value, branch, place) for branch in branches):
        return f"{place} must fit one of the alternatives"
    return None


def _same(one: Json, other: Json) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _inside(value: Json, schema: Schema, place: str) -> str | None:
    if isinstance(value, str):
        return _range(len(value), schema, ("minLength", "maxLength"), f"the length of {place}") or _pattern(
            value, schema, place
        )
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _range(value, schema, ("minimum", "maximum"), place)
    if isinstance(value, Mapping):
        return _members(value, schema, place)
    return _range(len(value), schema, ("minItems", "maxItems"), f"the length of {place}") or _items(
        value, schema, place
    )


def _pattern(value: str, schema: Schema, place: str) -> str | None:
    wanted = schema.get("pattern")
    fits = not isinstance(wanted, str) or re.search(wanted, value)
    return None if fits else f"{place} must match the pattern {wanted}"


def _range(found: float, schema: Schema, names: tuple[str, str], place: str) -> str | None:
    least, most = (cast("float | None", schema.get(name)) for name in names)
    # Written so that NaN fails as well.
    if least is not None and not found >= least:
        return f"{place} must be at least {least}"
    if most is not None and not found <= most:
        return f"{place} must be at most {most}"
    return None


def _items(value: Sequence[Json], schema: Schema, place: str) -> str | None:
    of_items = schema.get("items")
    if not isinstance(of_items, Mapping):
        return None
    found = (explain_misfit(item, of_items, f"{place}[{number}]") for number, item in enumerate(value))
    return next((problem for problem in found if problem), None)


def _members(value: Mapping[str, Json], schema: Schema, place: str) -> str | None:
    known = cast("Mapping[str, Schema]", schema.get("properties", {}))
    for name in cast("Sequence[str]", schema.get("required", ())):
        if name not in value:
            return f"{place} must have {name!r}"
    others = schema.get("additionalProperties", True)
    if others is False and not value.keys() <= known.keys():
        return f"{place} must have nothing but {', '.join(map(repr, known))}"
    rest: Schema = others if isinstance(others, Mapping) else {}
    found = (explain_misfit(item, known.get(name, rest), _member(place, name, known)) for name, item in value.items())
    return next((problem for problem in found if problem), None)


def _member(place: str, name: str, known: Mapping[str, Schema]) -> str:
    # The model made up a name that the schema does not have, perhaps from its input, so it is not quoted.
    return f"{place}.{name}" if name in known else f"a member of {place}"


def drop_keywords(schema: Mapping[str, Json], unknown: Set[str]) -> dict[str, Json]:
    """Return the schema without those keywords, at every depth; a value that fits the original fits it too."""
    kept = {name: value for name, value in schema.items() if name not in unknown}
    if isinstance(schema.get("items"), Mapping):
        kept["items"] = drop_keywords(cast("Mapping[str, Json]", schema["items"]), unknown)
    if "properties" in schema:
        members = cast("Mapping[str, Mapping[str, Json]]", schema["properties"])
        kept["properties"] = {name: drop_keywords(member, unknown) for name, member in members.items()}
    if "anyOf" in schema:
        branches = cast("Sequence[Mapping[str, Json]]", schema["anyOf"])
        kept["anyOf"] = [drop_keywords(branch, unknown) for branch in branches]
    return kept


MAX_TEXT_LENGTH = 160
MAX_ITEMS = 3


def add_bounds(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema with a limit on each text and list that has none; a value that fits it fits the original."""
    kinds = schema.get("type")
    named = {kinds} if isinstance(kinds, str) else set(cast("Sequence[Json]", kinds or ()))
    done: dict[str, Json] = {name: _bounded(value) for name, value in schema.items()}
    if "string" in named and "enum" not in schema:
        done.setdefault("maxLength", MAX_TEXT_LENGTH)
    if "array" in named:
        done.setdefault("maxItems", MAX_ITEMS)
    return done


def _bounded(value: Json) -> Json:
    if isinstance(value, Mapping):
        return add_bounds(value)
    return value
