"""Describes response bodies as JSON Schema, derived from the dataclasses that `to_json` writes."""

from collections.abc import Mapping, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from recollectum.domain.message import Json
from recollectum.doors.json_values import AS_TEXT, json_names

JsonSchema = dict[str, Any]
#: By the name of the class.
Components = MutableMapping[str, JsonSchema]
#: A type of ours, or the fields of an object by name.
Shape = object
_REF = "#/components/schemas/{}"
_PLAIN: Mapping[object, JsonSchema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
}


def schema_of(shape: Shape, components: Components) -> JsonSchema:
    """Return the schema of what `to_json` makes of a value; classes become components that are referenced."""
    if shape in (Json, Any, object):
        return {}
    if isinstance(shape, Mapping):
        return _object_of(cast("Mapping[str, Shape]", shape), components)
    if isinstance(shape, type) and get_origin(shape) is None:
        return _class_schema(shape, components)
    return _generic_schema(get_origin(shape), get_args(shape), components)


def _object_of(shapes: Mapping[str, Shape], components: Components) -> JsonSchema:
    properties = {name: schema_of(shape, components) for name, shape in shapes.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _class_schema(kind: type, components: Components) -> JsonSchema:
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if issubclass(kind, AS_TEXT):
        return {"type": "string"}
    if kind.__name__ not in components:
        about: JsonSchema = {"title": kind.__name__, "description": (kind.__doc__ or "").partition("\n")[0]}
        if issubclass(kind, Enum):
            components[kind.__name__] = about | {"type": "string", "enum": [one.value for one in kind]}
        elif is_dataclass(cast("object", kind)):
            # Registered before its fields are read, which may refer to it again.
            components[kind.__name__] = about
            types = {one.name: one.type for one in fields(cast("Any", kind))}
            about |= _object_of({name: types[name] for name in json_names(cast("Any", kind))}, components)
        else:
            raise TypeError(f"{kind.__name__} has no JSON form")
    return {"$ref": _REF.format(kind.__name__)}


def _generic_schema(origin: object, inner: tuple[Any, ...], components: Components) -> JsonSchema:
    if origin is Union or origin is UnionType:
        return {"anyOf": [schema_of(one, components) for one in inner]}
    if origin is Literal:
        return {"enum": list(inner)}
    if not isinstance(origin, type):
        raise TypeError(f"{origin} has no JSON form")
    if issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1], components)}
    if origin is tuple and Ellipsis not in inner:
        parts = [schema_of(one, components) for one in inner]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    if issubclass(origin, (Sequence, AbstractSet)):
        return {"type": "array", "items": schema_of(inner[0], components)}
    raise TypeError(f"{origin.__name__} has no JSON form")
