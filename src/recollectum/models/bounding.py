"""A schema with ends: a small model that writes by a grammar may never close a text or a list by itself."""

from collections.abc import Mapping, Sequence
from typing import cast

from recollectum.domain.message import Json

MAX_LENGTH = 160
MAX_ITEMS = 3


def bounded(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The schema with a bound for each text and list that has none; what fits it fits the one that was given."""
    kinds = schema.get("type")
    named = {kinds} if isinstance(kinds, str) else set(cast("Sequence[Json]", kinds or ()))
    done: dict[str, Json] = {name: _bounded(value) for name, value in schema.items()}
    if "string" in named and "enum" not in schema:
        done.setdefault("maxLength", MAX_LENGTH)
    if "array" in named:
        done.setdefault("maxItems", MAX_ITEMS)
    return done


def _bounded(value: Json) -> Json:
    if isinstance(value, Mapping):
        return bounded(value)
    return value
