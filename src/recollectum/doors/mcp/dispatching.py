"""From a name to the work behind it: tools by profile, resources by address, prompts by name. No SDK here."""

import json
from collections.abc import Mapping
from typing import Any

from recollectum.domain.errors import Conflict, Denied, InvalidInput, NotFound, RecollectumError, StepRefused
from recollectum.doors.mcp import graph_tools, tools
from recollectum.doors.mcp.answering import citation_json, fenced, memory_json, message_text, pretty
from recollectum.doors.mcp.arguments import checked
from recollectum.doors.mcp.catalogue import DEFAULT, MEMORY_SCHEME, PROFILE_URI, SESSION_SCHEME
from recollectum.doors.mcp.catalogue_graph import GRAPH, GRAPH_URI
from recollectum.doors.mcp.declaring import Offer, Wire
from recollectum.doors.mcp.guest import Guest
from recollectum.doors.mcp.tools import Said, Work

_WORK: Mapping[str, Mapping[str, Work]] = {DEFAULT.profile: tools.TOOLS, GRAPH.profile: graph_tools.TOOLS}
#: Only these say more to whoever asks: the others name files and hosts.
_TOLD = (InvalidInput, NotFound, Denied, Conflict, StepRefused)
_MESSAGES = 50


class Unknown(Exception):
    """There is no tool, resource or prompt of that name."""


def call(offer: Offer, guest: Guest, name: str, arguments: Mapping[str, Any]) -> Said:
    """What a tool says to its arguments; a wrong one is an InvalidInput."""
    tool = offer.tool(name)
    if tool is None:
        raise Unknown(f"there is no tool {name[:40]!r}")
    return _WORK[offer.profile][name](guest, checked(tool, arguments))


def sentence(error: RecollectumError) -> str:
    """What a client is told of an error."""
    if isinstance(error, _TOLD):
        return str(error)
    return f"the vault could not do this ({type(error).__name__}); `recollectum doctor` says more"


def read(offer: Offer, guest: Guest, uri: str) -> Wire:
    """The contents of a resource."""
    mime_type, text = _read_graph(guest, uri) if offer is GRAPH else _read(guest, uri)
    return {"uri": uri, "mimeType": mime_type, "text": text}


def prompt(offer: Offer, guest: Guest, name: str, arguments: Mapping[str, str]) -> Wire:
    """A prompt with what it puts into the conversation."""
    declared = next((one for one in offer.prompts if one.name == name), None)
    if declared is None:
        raise Unknown(f"there is no prompt {name[:40]!r}")
    if declared.argument is not None and not arguments.get(declared.argument[0], "").strip():
        raise InvalidInput(f"prompt {name!r} needs {declared.argument[0]!r} as a text that is not empty")
    said = tools.read_profile(guest) if name == "profile" else tools.recall(guest, {"query": arguments["topic"]}).text
    return {
        "description": declared.description,
        "messages": [{"role": "user", "content": {"type": "text", "text": said}}],
    }


def _read(guest: Guest, uri: str) -> tuple[str, str]:
    if uri == PROFILE_URI:
        return "text/plain", tools.read_profile(guest)
    scheme, slashes, name = uri.partition("://")
    try:
        if scheme + slashes == MEMORY_SCHEME:
            return "application/json", _memory(guest, name)
        if scheme + slashes == SESSION_SCHEME:
            said = guest.vault.sessions.get(name).messages(limit=_MESSAGES)
            return "text/plain", fenced([message_text(one) for one in said], "Nothing has been said there.")
    except NotFound:
        raise Unknown("there is no such resource") from None
    raise Unknown("there is no such resource")


def _memory(guest: Guest, memory_id: str) -> str:
    sources = [citation_json(one) for one in guest.vault.citations(memory_id)]
    return json.dumps({**memory_json(guest.vault.memories.get(memory_id)), "sources": sources}, ensure_ascii=False)


def _read_graph(guest: Guest, uri: str) -> tuple[str, str]:
    if uri != GRAPH_URI:
        raise Unknown("there is no such resource")
    return "application/json", pretty(dict(graph_tools.read_graph(guest, {}).structured))
