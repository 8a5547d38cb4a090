"""Checks what a client sends to a tool against the tool's schema, and says in one sentence what is wrong.

Only the words that our own schemas use are known here; a value is never repeated, because it may hold a memory.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from recollectum.domain.errors import InvalidInput
from recollectum.doors.mcp.declaring import Schema, Tool

_NAMES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def checked(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments themselves, when the tool takes them."""
    _check_object(arguments, tool.takes, tool.name)
    return dict(arguments)


def _check(value: object, schema: Schema, where: str) -> None:
    wanted = cast("str", schema["type"])
    if not _is(value, wanted):
        raise InvalidInput(f"{where} has to be {_NAMES[wanted]}")
    match value:
        case str():
            _check_text(value, schema, where)
        case bool():
            pass
        case int() | float():
            _check_number(value, schema, where)
        case Mapping():
            _check_object(cast("Mapping[str, object]", value), schema, where)
        case _:
            for place, one in enumerate(cast("Sequence[object]", value), start=1):
                _check(one, cast("Schema", schema["items"]), f"{where}, item {place},")


def _is(value: object, wanted: str) -> bool:
    match wanted:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _check_text(value: str, schema: Schema, where: str) -> None:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if len(value.strip()) < least:
        raise InvalidInput(f"{where} is empty; give it at least one word")
    if most is not None and len(value) > most:
        raise InvalidInput(f"{where} has {len(value)} characters; use at most {most}")
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidInput(f"{where} has to be one of {', '.join(schema['enum'])}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise InvalidInput(f"{where} has to begin with a-z and go on with a-z, 0-9 and _ only")


def _check_number(value: float, schema: Schema, where: str) -> None:
    least, most = schema.get("minimum"), schema.get("maximum")
    # Written so that what is not a number at all fails as well.
    if least is not None and most is not None and not least <= value <= most:
        raise InvalidInput(f"{where} is out of range; use {least} to {most}")


def _check_object(value: Mapping[str, object], schema: Schema, where: str) -> None:
    properties: Mapping[str, Schema] = schema["properties"]
    for name in schema.get("required", ()):
        if name not in value:
            raise InvalidInput(f"{where} needs {name!r}, which is missing")
    for name, given in value.items():
        if name in properties:
            _check(given, properties[name], f"{name!r} of {where}")
        elif schema.get("additionalProperties", True) is False:
            raise InvalidInput(f"{where} takes no argument {name[:40]!r}; it takes {', '.join(properties)}")
