"""The two eras of the protocol: a handshake that a connection remembers, and an envelope in every request.

The back ends of the front speak only the newer one, because a request then needs no connection: a daemon can be
restarted between two calls. What an older client asks is put into an envelope, and what it gets is taken out of one.
Standard library only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from recollectum.doors.mcp.declaring import Offer, Wire
from recollectum.doors.mcp.identity import HANDSHAKE_VERSIONS, MODERN_VERSIONS, NAME, TITLE, version

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
#: What only results of the newer era have.
_MODERN_ONLY = ("resultType", "ttlMs", "cacheScope")


class ProtocolError(Exception):
    """An error of the protocol, with its code."""

    def __init__(self, code: int, message: str, data: Wire | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class Client:
    """What an older client said of itself in its handshake."""

    info: Wire
    capabilities: Wire


def is_modern(params: Mapping[str, Any]) -> bool:
    """Whether a request brings its own envelope; one that is not whole is refused."""
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


def client_of(params: Mapping[str, Any]) -> Client:
    """The client behind a handshake."""
    info, capabilities = params.get("clientInfo"), params.get("capabilities")
    if not isinstance(params.get("protocolVersion"), str) or not isinstance(info, dict):
        raise ProtocolError(INVALID_PARAMS, "initialize needs protocolVersion, capabilities and clientInfo")
    known = cast("Wire", capabilities) if isinstance(capabilities, dict) else {}
    # The other capabilities have another form in the newer era, and no tool of ours needs them.
    asking = {"elicitation": known["elicitation"]} if isinstance(known.get("elicitation"), dict) else {}
    return Client(cast("Wire", info), asking)


def handshake(offer: Offer, params: Mapping[str, Any]) -> Wire:
    """The answer to `initialize`."""
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": capabilities(offer),
        "serverInfo": server_info(),
        "instructions": offer.instructions,
    }


def discovery(offer: Offer) -> Wire:
    """The answer to `server/discover`."""
    return listed(
        {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": capabilities(offer),
            "instructions": offer.instructions,
        }
    )


def listed(result: Wire) -> Wire:
    """A result of the newer era that the front gives itself."""
    stamped = {"_meta": {_SERVER_KEY: server_info()}, "resultType": "complete"}
    return {**stamped, "ttlMs": 0, "cacheScope": "private", **result}


def capabilities(offer: Offer) -> Wire:
    """What the server can do: its lists never change while it runs."""
    prompts = {"prompts": {"listChanged": False}} if offer.prompts else {}
    rest = {"resources": {"subscribe": False, "listChanged": False}, "tools": {"listChanged": False}}
    return {**prompts, **rest}


def server_info() -> Wire:
    """The server's name and version."""
    return {"name": NAME, "title": TITLE, "version": version()}


def enveloped(params: Mapping[str, Any], client: Client) -> Wire:
    """An older client's parameters in an envelope."""
    given = params.get("_meta")
    meta = cast("Wire", given) if isinstance(given, dict) else {}
    envelope = {_VERSION_KEY: MODERN_VERSIONS[-1], _CLIENT_KEY: client.info, _CAPABILITIES_KEY: client.capabilities}
    return {**params, "_meta": {**meta, **envelope}}


def opened(result: Mapping[str, Any]) -> Wire:
    """A result as an older client knows it."""
    plain = {name: value for name, value in result.items() if name not in _MODERN_ONLY}
    meta = plain.get("_meta")
    if isinstance(meta, dict):
        rest = {name: value for name, value in cast("Wire", meta).items() if name != _SERVER_KEY}
        plain = {
            **{name: value for name, value in plain.items() if name != "_meta"},
            **({"_meta": rest} if rest else {}),
        }
    return plain


def questions(result: Mapping[str, Any]) -> Mapping[str, Wire]:
    """What the person has to be asked before there is a result; nothing, when it is one."""
    if result.get("resultType") != "input_required":
        return {}
    return cast("Mapping[str, Wire]", result.get("inputRequests") or {})


def answered(params: Mapping[str, Any], result: Mapping[str, Any], responses: Mapping[str, Wire]) -> Wire:
    """The same request again, with what the person said."""
    again: Wire = {**params, "inputResponses": dict(responses)}
    state = result.get("requestState")
    return again if state is None else {**again, "requestState": state}
