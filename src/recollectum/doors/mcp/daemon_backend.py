"""Answers requests by one stateless POST each to a running daemon, or to the server that this machine uses."""

import base64
import http.client
import json
import socket
from contextlib import closing
from typing import cast
from urllib.parse import urlsplit

from recollectum.domain.errors import NotFound
from recollectum.doors.mcp.declarations import Wire
from recollectum.doors.mcp.protocol_versions import MODERN_VERSIONS
from recollectum.doors.mcp.target import McpTarget
from recollectum.doors.remote.link import ServerLink, parsed
from recollectum.home.credentials.connection import Connection
from recollectum.home.daemon import Daemon

_PATHS = {"default": "/mcp", "graph": "/mcp/graph"}
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
#: A recall takes a second at most; a model that writes a profile may take longer.
_PATIENCE_S = 120
#: How long a daemon may take to accept a request; one that stalls has done nothing with it.
_READY_S = 2
_CONTINUE = b"HTTP/1.1 100"
_NOT_HERE = 404
_TOO_MANY = 429
_FAILED = 500
_STREAM = "text/event-stream"


class DaemonUnreachable(Exception):
    """Raised when the daemon does not answer, or has no room for the request; nothing was done."""


class DaemonConnectionLost(Exception):
    """Raised when the daemon disappeared during a request; it is not known what it did."""


class DaemonBackend:
    """Passes requests to a daemon, as the person or with their key."""

    def __init__(self, daemon: Daemon, whom: McpTarget, profile: str) -> None:
        place = urlsplit(daemon.url)
        self._host, self._port = place.hostname or "127.0.0.1", place.port or 80
        self._path = _PATHS[profile]
        self._who = {"Authorization": f"Bearer {whom.key or daemon.token}"}
        self._person = whom.person() if whom.key is None else None
        if self._person is not None:
            self._who["Recollectum-User"] = str(self._person)

    def exchange(self, request: Wire) -> Wire:
        """Return the response to a request of the newer protocol."""
        body = json.dumps(request).encode()
        link = http.client.HTTPConnection(self._host, self._port, timeout=_READY_S)
        sent = False
        try:
            sent = self._announce(link, {**self._headers(request), "Content-Length": str(len(body))})
            if sent:
                link.sock.settimeout(_PATIENCE_S)
                link.send(body)
            answer = link.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise (DaemonConnectionLost if sent else DaemonUnreachable) from error
        finally:
            link.close()
        if (answer.status == _TOO_MANY or answer.status >= _FAILED) and not _is_rpc(said):
            # Refused before the protocol was spoken: the request reached no tool.
            raise DaemonUnreachable
        if answer.status == _NOT_HERE and self._person is not None and not _is_rpc(said):
            # Refused before the protocol was spoken, and without the name, which no HTTP answer repeats.
            raise NotFound(f"there is no {self._person.kind} {self._person.name!r} in this home; add it first")
        return _response(answer.status, answer.headers.get_content_type(), said, request)

    def _announce(self, link: http.client.HTTPConnection, headers: dict[str, str]) -> bool:
        """Send the headers of a request; return whether the daemon asks for the body instead of answering at once."""
        link.putrequest("POST", self._path)
        for name, value in headers.items():
            link.putheader(name, value)
        link.putheader("Expect", "100-continue")
        link.endheaders()
        return link.sock.recv(len(_CONTINUE), socket.MSG_PEEK) == _CONTINUE

    def _headers(self, request: Wire) -> dict[str, str]:
        return {**self._who, **_protocol_headers(request)}


class ServerBackend:
    """Passes requests to the server that this machine uses, with its key; there is nothing to fall back to."""

    def __init__(self, connection: Connection, profile: str) -> None:
        self._connection = connection
        self._path = _PATHS[profile]

    def exchange(self, request: Wire) -> Wire:
        """Return the response to a request of the newer protocol."""
        # Each has its own connection: a client may ask for several things at once.
        with closing(ServerLink(self._connection, seconds=_PATIENCE_S)) as link:
            reply = link.exchange("POST", self._path, request, **_protocol_headers(request))
            if not _is_rpc(reply.body):
                raise link.refusal(reply, parsed(reply))
        return _response(reply.status, reply.kind, reply.body, request)


def _protocol_headers(request: Wire) -> dict[str, str]:
    method = cast("str", request["method"])
    headers = {
        "Content-Type": "application/json",
        "Accept": f"application/json, {_STREAM}",
        "MCP-Protocol-Version": MODERN_VERSIONS[-1],
        "Mcp-Method": method,
    }
    named = request["params"].get(_NAMED_BY.get(method, ""))
    return {**headers, "Mcp-Name": _encoded(named)} if isinstance(named, str) else headers


def _is_rpc(said: bytes) -> bool:
    return b'"jsonrpc"' in said


def _encoded(value: str) -> str:
    """Return a text as a header value; what a header cannot hold is encoded as base64."""
    plain = value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?")
    return value if plain else f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def _response(status: int, kind: str, said: bytes, request: Wire) -> Wire:
    text = said.decode("utf-8", "replace")
    try:
        found: object = json.loads(_last_event(text) if kind == _STREAM else text)
    except ValueError:
        found = None
    if isinstance(found, dict) and "jsonrpc" in found:
        return cast("Wire", found)
    told = cast("Wire", found).get("detail") or cast("Wire", found).get("title") if isinstance(found, dict) else None
    return {
        "jsonrpc": "2.0",
        "id": request["id"],
        "error": {"code": -32603, "message": f"the daemon answered {status}: {told or 'without a reason'}"},
    }


def _last_event(stream: str) -> str:
    """Return the response in an event stream: the last event, after any notifications."""
    lines = [line.removeprefix("data:").strip() for line in stream.splitlines() if line.startswith("data:")]
    return lines[-1] if lines else ""
