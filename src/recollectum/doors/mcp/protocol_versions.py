"""Translates between the two generations of the protocol: a handshake per connection, and an envelope per request."""

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from recollectum.domain.records import dataclass
from recollectum.doors.mcp.declarations import McpProfile, Wire

NAME = "recollectum"
TITLE = "Recollectum"
#: The newest of each kind last: with a handshake, and with everything in each request.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)


@cache
def version() -> str:
    """Return the version of this program."""
    # Reading a package's metadata is slow, and not every process reports its version.
    from importlib.metadata import version as installed  # noqa: PLC0415

    return installed("recollectum")


PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
#: Members that only results of the newer protocol have.
_MODERN_ONLY = ("resultType", "ttlMs", "cacheScope")


class ProtocolError(Exception):
    """An error of the protocol, with its code."""

    def __init__(self, code: int, message: str, data: Wire | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """What a client said about itself, in its handshake or in the envelope of a request."""

    info: Wire
    capabilities: Wire


def read_envelope(params: Mapping[str, Any]) -> ClientInfo:
    """Return the client of a request in the newer protocol."""
    meta = cast("Wire", params["_meta"])
    info, known = meta.get(_CLIENT_KEY), meta.get(_CAPABILITIES_KEY)
    return ClientInfo(
        cast("Wire", info) if isinstance(info, dict) else {}, cast("Wire", known) if isinstance(known, dict) else {}
    )


def can_ask(capabilities: Mapping[str, Any]) -> bool:
    """Return whether the client can show the person a form; a bare `elicitation: {}` means that it can."""
    asking = capabilities.get("elicitation")
    return isinstance(asking, dict) and ("form" in asking or "url" not in asking)


def is_modern(params: Mapping[str, Any]) -> bool:
    """Return whether a request has its own envelope; raise for an incomplete one."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or _VERSION_KEY not in meta:
        return False
    envelope = cast("Wire", meta)
    asked = envelope[_VERSION_KEY]
    if not isinstance(asked, str) or _CAPABILITIES_KEY not in envelope:
        raise ProtocolError(INVALID_PARAMS, "the envelope in _meta lacks a protocol version or client capabilities")
    if asked not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": asked}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return True


def read_client_info(params: Mapping[str, Any]) -> ClientInfo:
    """Return the client of a handshake."""
    info, capabilities = params.get("clientInfo"), params.get("capabilities")
    if not isinstance(params.get("protocolVersion"), str) or not isinstance(info, dict):
        raise ProtocolError(INVALID_PARAMS, "initialize needs protocolVersion, capabilities and clientInfo")
    known = cast("Wire", capabilities) if isinstance(capabilities, dict) else {}
    # The other capabilities have another form in the newer protocol, and none of our tools needs them.
    asking = {"elicitation": known["elicitation"]} if isinstance(known.get("elicitation"), dict) else {}
    return ClientInfo(cast("Wire", info), asking)


def initialize_result(offer: McpProfile, params: Mapping[str, Any]) -> Wire:
    """Return the answer to `initialize`."""
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": capabilities(offer),
        "serverInfo": server_info(),
        "instructions": offer.instructions,
    }


def discover_result(offer: McpProfile) -> Wire:
    """Return the answer to `server/discover`."""
    return complete_result(
        {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": capabilities(offer),
            "instructions": offer.instructions,
        }
    )


def complete_result(result: Wire, *, cacheable: bool = True) -> Wire:
    """Return a result of the newer protocol: lists and reads say how long they may be cached."""
    cache = {"ttlMs": 0, "cacheScope": "private"} if cacheable else {}
    return {"_meta": {_SERVER_KEY: server_info()}, "resultType": "complete", **cache, **result}


def capabilities(offer: McpProfile) -> Wire:
    """Return the capabilities of the server: its lists never change while it runs."""
    prompts = {"prompts": {"listChanged": False}} if offer.prompts else {}
    rest = {"resources": {"subscribe": False, "listChanged": False}, "tools": {"listChanged": False}}
    return {**prompts, **rest}


def server_info() -> Wire:
    """Return the server's name and version."""
    return {"name": NAME, "title": TITLE, "version": version()}


def add_envelope(params: Mapping[str, Any], client: ClientInfo) -> Wire:
    """Return an older client's parameters in an envelope."""
    given = params.get("_meta")
    meta = cast("Wire", given) if isinstance(given, dict) else {}
    envelope = {_VERSION_KEY: MODERN_VERSIONS[-1], _CLIENT_KEY: client.info, _CAPABILITIES_KEY: client.capabilities}
    return {**params, "_meta": {**meta, **envelope}}


def strip_envelope(result: Mapping[str, Any]) -> Wire:
    """Return a result in the form of the older protocol."""
    plain = {name: value for name, value in result.items() if name not in _MODERN_ONLY}
    meta = plain.get("_meta")
    if isinstance(meta, dict):
        rest = {name: value for name, value in cast("Wire", meta).items() if name != _SERVER_KEY}
        plain = {
            **{name: value for name, value in plain.items() if name != "_meta"},
            **({"_meta": rest} if rest else {}),
        }
    return plain


def input_requests(result: Mapping[str, Any]) -> Mapping[str, Wire]:
    """Return what the person must be asked before there is a result; empty when it is a result."""
    if result.get("resultType") != "input_required":
        return {}
    return cast("Mapping[str, Wire]", result.get("inputRequests") or {})


def add_input_responses(params: Mapping[str, Any], result: Mapping[str, Any], responses: Mapping[str, Wire]) -> Wire:
    """Return the same request with the person's answers."""
    again: Wire = {**params, "inputResponses": dict(responses)}
    state = result.get("requestState")
    return again if state is None else {**again, "requestState": state}
