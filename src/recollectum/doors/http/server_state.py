"""Holds the open home, the local token and the request limits of one running server."""

import threading
from dataclasses import field
from datetime import datetime
from typing import cast

from starlette.requests import HTTPConnection

from recollectum.domain.records import dataclass
from recollectum.engine import Recollectum
from recollectum.settings.model import ServerSettings

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
#: A server on all addresses is never called by these names, and browsers have been tricked with them.
_ANY = frozenset({"", "0.0.0.0", "::", "[::]", "*"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """The limits that the guard enforces."""

    #: Values of the Host header, in lower case, with the port if needed.
    hosts: frozenset[str]
    #: Origins of pages on other sites that may call the API.
    origins: frozenset[str] = frozenset()
    max_body: int = 4 * 1024 * 1024
    #: Requests per minute; 0 for no limit.
    per_key: int = 6000
    per_address: int = 60_000
    #: Requests per minute with a wrong key, or none.
    failures: int = 60


def limits_of(settings: ServerSettings, *, host: str, port: int, local_port: int | None = None) -> RequestLimits:
    """Return the limits of a server that listens on an address and a port, and maybe on one more of this machine."""
    here = allowed_hosts("127.0.0.1", local_port) if local_port is not None else frozenset[str]()
    return RequestLimits(
        hosts=allowed_hosts(host, port, settings.hosts) | here,
        origins=frozenset(one.strip() for one in settings.origins.split(",") if one.strip()),
        max_body=settings.max_body_kb * 1024,
        per_key=settings.rate_per_minute,
        per_address=settings.address_rate_per_minute,
        failures=settings.failures_per_minute,
    )


def allowed_hosts(host: str, port: int, further: str = "") -> frozenset[str]:
    """Return the loopback names and the bound address with the port, and other names with and without it."""
    bound = f"[{host}]" if ":" in host and not host.startswith("[") else host.casefold()
    here = [*_LOOPBACK, bound] if bound not in _ANY else [*_LOOPBACK]
    named = [name.strip().casefold() for name in further.split(",") if name.strip()]
    with_port = {f"{name}:{port}" for name in (*here, *named)}
    # A proxy in front, or the usual port: then the header has no port.
    bare = {*named, *(here if port in (80, 443) else ())}
    return frozenset(with_port | bare)


@dataclass(frozen=True, slots=True)
class ServerState:
    """What every route of one server uses."""

    recollectum: Recollectum
    #: 256 bits, new at each start; only programs that can read the home's files have it.
    local_token: str
    limits: RequestLimits
    started_at: datetime
    #: Set when the server is told to stop.
    stop: threading.Event = field(default_factory=threading.Event)


def server_state_of(request: HTTPConnection) -> ServerState:
    """Return the state of the server that handles a request."""
    return cast("ServerState", request.app.state.serving)
