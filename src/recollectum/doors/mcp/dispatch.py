"""Validates arguments against a tool's schema, and dispatches tools, resources and prompts by name. No SDK here."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from recollectum.domain.errors import Conflict, Denied, InvalidInput, NotFound, RecollectumError, StepRefused
from recollectum.doors.mcp import tools
from recollectum.doors.mcp.catalogue import DEFAULT, MEMORY_SCHEME, PROFILE_URI, SESSION_SCHEME
from recollectum.doors.mcp.client import McpClient
from recollectum.doors.mcp.declarations import McpProfile, McpTool, Schema, Wire
from recollectum.doors.mcp.knowledge_graph import graph_tools
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH, GRAPH_URI
from recollectum.doors.mcp.results import citation_json, fence_texts, indented_json, memory_json, message_text
from recollectum.doors.mcp.tools import ToolFunction, ToolResult

_NAMES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def validate_arguments(tool: McpTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
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


_WORK: Mapping[str, Mapping[str, ToolFunction]] = {DEFAULT.profile: tools.TOOLS, GRAPH.profile: graph_tools.TOOLS}
#: Only these say more to whoever asks: the others name files and hosts.
_EXPLAINED = (InvalidInput, NotFound, Denied, Conflict, StepRefused)
_MESSAGES = 50


class UnknownName(Exception):
    """There is no tool, resource or prompt of that name."""


def call_tool(offer: McpProfile, guest: McpClient, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """What a tool says to its arguments; a wrong one is an InvalidInput."""
    tool = offer.tool(name)
    if tool is None:
        raise UnknownName(f"there is no tool {name[:40]!r}")
    return _WORK[offer.profile][name](guest, validate_arguments(tool, arguments))


def error_sentence(error: RecollectumError) -> str:
    """What a client is told of an error."""
    if isinstance(error, _EXPLAINED):
        return str(error)
    return f"the vault could not do this ({type(error).__name__}); `recollectum doctor` says more"


def read_resource(offer: McpProfile, guest: McpClient, uri: str) -> Wire:
    """The contents of a resource."""
    mime_type, text = _read_graph(guest, uri) if offer is GRAPH else _read(guest, uri)
    return {"uri": uri, "mimeType": mime_type, "text": text}


def get_prompt(offer: McpProfile, guest: McpClient, name: str, arguments: Mapping[str, str]) -> Wire:
    """A prompt with what it puts into the conversation."""
    declared = next((one for one in offer.prompts if one.name == name), None)
    if declared is None:
        raise UnknownName(f"there is no prompt {name[:40]!r}")
    if declared.argument is not None and not arguments.get(declared.argument[0], "").strip():
        raise InvalidInput(f"prompt {name!r} needs {declared.argument[0]!r} as a text that is not empty")
    said = tools.read_profile(guest) if name == "profile" else tools.recall(guest, {"query": arguments["topic"]}).text
    return {
        "description": declared.description,
        "messages": [{"role": "user", "content": {"type": "text", "text": said}}],
    }


def _read(guest: McpClient, uri: str) -> tuple[str, str]:
    if uri == PROFILE_URI:
        return "text/plain", tools.read_profile(guest)
    scheme, slashes, name = uri.partition("://")
    try:
        if scheme + slashes == MEMORY_SCHEME:
            return "application/json", _memory(guest, name)
        if scheme + slashes == SESSION_SCHEME:
            said = guest.vault.sessions.get(name).messages(limit=_MESSAGES)
            return "text/plain", fence_texts([message_text(one) for one in said], "Nothing has been said there.")
    except NotFound:
        raise UnknownName("there is no such resource") from None
    raise UnknownName("there is no such resource")


def _memory(guest: McpClient, memory_id: str) -> str:
    sources = [citation_json(one) for one in guest.vault.citations(memory_id)]
    return json.dumps({**memory_json(guest.vault.memories.get(memory_id)), "sources": sources}, ensure_ascii=False)


def _read_graph(guest: McpClient, uri: str) -> tuple[str, str]:
    if uri != GRAPH_URI:
        raise UnknownName("there is no such resource")
    return "application/json", indented_json(dict(graph_tools.read_graph(guest, {}).structured))
