"""Answers the three requests that need a vault: calls a tool, reads a resource, gets a prompt. No SDK here."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

from recollectum.context.echoes import marked_blocks
from recollectum.domain.errors import Conflict, Denied, InvalidInput, NotFound, RecollectumError, StepRefused
from recollectum.doors.mcp import tools
from recollectum.doors.mcp.catalogue import DEFAULT, MEMORY_SCHEME, PROFILE_URI, SESSION_SCHEME
from recollectum.doors.mcp.client import McpClient
from recollectum.doors.mcp.declarations import McpProfile, Wire
from recollectum.doors.mcp.knowledge_graph import graph_tools
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH, GRAPH_URI
from recollectum.doors.mcp.protocol_versions import INVALID_PARAMS, ProtocolError
from recollectum.doors.mcp.results import (
    CONFIRM,
    ConfirmationQuestion,
    ToolAnswer,
    citation_json,
    error_result,
    fence_texts,
    indented_json,
    memory_json,
    message_text,
)
from recollectum.doors.mcp.tools import ToolFunction, ToolResult
from recollectum.models.language.json_schema import explain_misfit

#: Finds the client of a request; it may raise.
FindClient = Callable[[], McpClient]

_TOOLS: Mapping[str, Mapping[str, ToolFunction]] = {DEFAULT.profile: tools.TOOLS, GRAPH.profile: graph_tools.TOOLS}
#: Only these errors include details: the others name files and hosts.
_EXPLAINED = (InvalidInput, NotFound, Denied, Conflict, StepRefused)
_MESSAGES = 50


def answer(offer: McpProfile, find: FindClient, method: str, params: Wire, *, can_ask: bool) -> Wire:
    """Return the result of a request in the newer protocol; raise `ProtocolError` for its errors."""
    match method, params.get("name"), params.get("uri"):
        case "tools/call", str() as name, _:
            return _call(offer, find, name, params, can_ask=can_ask)
        case "prompts/get", str() as name, _:
            return _read(lambda: get_prompt(offer, find(), name, _texts(params.get("arguments"))))
        case "resources/read", _, str() as uri:
            return _read(lambda: {"contents": [read_resource(offer, find(), uri)]}, {"uri": uri})
        case _:
            raise ProtocolError(INVALID_PARAMS, f"{method[:40]} needs a name or a URI, as a string")


def call_tool(offer: McpProfile, guest: McpClient, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Call a tool with its arguments; raise `InvalidInput` for a wrong one."""
    tool = offer.tool(name)
    if tool is None:
        raise ProtocolError(INVALID_PARAMS, f"there is no tool {name[:40]!r}")
    if problem := explain_misfit(dict(arguments), tool.takes, name):
        raise InvalidInput(problem)
    result = _TOOLS[offer.profile][name](guest, arguments)
    if isinstance(result, ToolAnswer):
        _note_served(guest, result.text)
    return result


def read_resource(offer: McpProfile, guest: McpClient, uri: str) -> Wire:
    """Return the contents of a resource."""
    mime_type, text = _graph_text(guest, uri) if offer is GRAPH else _resource_text(guest, uri)
    _note_served(guest, text)
    return {"uri": uri, "mimeType": mime_type, "text": text}


def get_prompt(offer: McpProfile, guest: McpClient, name: str, arguments: Mapping[str, str]) -> Wire:
    """Return a prompt with the messages it adds to the conversation."""
    declared = next((one for one in offer.prompts if one.name == name), None)
    if declared is None:
        raise NotFound(f"there is no prompt {name[:40]!r}")
    if declared.argument is not None and not arguments.get(declared.argument[0], "").strip():
        raise InvalidInput(f"prompt {name!r} needs {declared.argument[0]!r} as a non-empty string")
    said = tools.read_profile(guest) if name == "profile" else tools.recall(guest, {"query": arguments["topic"]}).text
    _note_served(guest, said)
    return {
        "description": declared.description,
        "messages": [{"role": "user", "content": {"type": "text", "text": said}}],
    }


def _note_served(guest: McpClient, text: str) -> None:
    """Let the vault recognise a text when it comes back, unless the client may not read memories."""
    if marked_blocks(text):
        with suppress(Denied):
            guest.vault.admin.served.save(text)


def _call(offer: McpProfile, find: FindClient, name: str, params: Wire, *, can_ask: bool) -> Wire:
    """Return the result of a tool; errors in its arguments are a result for the model too."""
    given: object = params.get("arguments")
    if given is not None and not isinstance(given, dict):
        raise ProtocolError(INVALID_PARAMS, "the arguments of a tool must be an object")
    arguments = cast("Wire", given or {})
    token, responses = params.get("requestState"), params.get("inputResponses")
    if token is not None and isinstance(responses, dict):
        # The person was asked in an earlier round; the state is the token, which the tool itself checks.
        if not _agreed(cast("Wire", responses).get(CONFIRM)):
            return tools.kept_answer(str(arguments.get("id", ""))).wire()
        arguments = {**arguments, CONFIRM: token}
    try:
        said = call_tool(offer, find(), name, arguments)
    except RecollectumError as error:
        return error_result(_sentence(error))
    if isinstance(said, ConfirmationQuestion):
        return said.wire() if can_ask else said.otherwise.wire()
    return said.wire()


def _read(work: Callable[[], Wire], data: Wire | None = None) -> Wire:
    """Read a resource or prompt for a client; translate our errors into those of the protocol."""
    try:
        return work()
    except RecollectumError as error:
        raise ProtocolError(INVALID_PARAMS, _sentence(error), data) from None


def _sentence(error: RecollectumError) -> str:
    """Return the text of an error for a client."""
    if isinstance(error, _EXPLAINED):
        return str(error)
    return f"the vault could not do this ({type(error).__name__}); `recollectum doctor` says more"


def _agreed(response: object) -> bool:
    match response:
        case {"action": "accept", "content": {"confirm": True}}:
            return True
        case _:
            return False


def _texts(arguments: object) -> Mapping[str, str]:
    given = cast("Wire", arguments) if isinstance(arguments, dict) else {}
    if not all(isinstance(one, str) for one in given.values()) or not isinstance(arguments, dict | None):
        raise InvalidInput("the arguments of a prompt must be an object of strings")
    return given


def _resource_text(guest: McpClient, uri: str) -> tuple[str, str]:
    if uri == PROFILE_URI:
        return "text/plain", tools.read_profile(guest)
    scheme, slashes, name = uri.partition("://")
    try:
        if scheme + slashes == MEMORY_SCHEME:
            return "application/json", _memory_text(guest, name)
        if scheme + slashes == SESSION_SCHEME:
            said = guest.vault.sessions.chat(name).messages(limit=_MESSAGES)
            return "text/plain", fence_texts([message_text(one) for one in said], "That conversation has no messages.")
    except NotFound:
        raise NotFound("there is no such resource") from None
    raise NotFound("there is no such resource")


def _memory_text(guest: McpClient, memory_id: str) -> str:
    sources = [citation_json(one) for one in guest.vault.memories.citations(memory_id)]
    return json.dumps({**memory_json(guest.vault.memories.get(memory_id)), "sources": sources}, ensure_ascii=False)


def _graph_text(guest: McpClient, uri: str) -> tuple[str, str]:
    if uri != GRAPH_URI:
        raise NotFound("there is no such resource")
    return "application/json", indented_json(dict(graph_tools.read_graph(guest, {}).structured))
