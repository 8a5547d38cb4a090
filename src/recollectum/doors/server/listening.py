"""Builds the server that listens: it announces itself, fails `/readyz` when it is told to stop, and then drains."""

import asyncio
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import uvicorn

from recollectum.doors.server.connections import bounded_protocol
from recollectum.doors.server.tls import TlsFiles

if TYPE_CHECKING:
    from recollectum.settings.model import ServerSettings

#: How long to wait for running requests.
_PATIENCE_SECONDS = 30


class Stopping(NamedTuple):
    """How a server stops."""

    #: Set when it is told to; `/readyz` fails from then on, and upkeep ends.
    told: threading.Event
    #: Seconds that it still takes new connections after that.
    drain_seconds: float


class Sockets(NamedTuple):
    """What a server has beside the socket that everybody uses."""

    #: A loopback socket for programs of this machine, always plain HTTP; None without HTTPS, which needs none.
    local: socket.socket | None = None
    #: The certificate of the socket that everybody uses; None for plain HTTP.
    tls: TlsFiles | None = None


class AnnouncingServer(uvicorn.Server):
    """Announces that it listens once it does, and answers for a while after it was told to stop."""

    def __init__(
        self,
        config: uvicorn.Config,
        announce: Callable[[], None],
        stopping: Stopping,
        local: socket.socket | None = None,
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._stopping = stopping
        self._local = local
        self._ends_at: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self._local is not None:
            self.servers.append(await self._listen_here(self._local))
        # A signal may have come before there was a server to receive it.
        self.should_exit = self.should_exit or self._stopping.told.is_set()
        if self.started and not self.should_exit:
            self._announce()

    async def _listen_here(self, local: socket.socket) -> asyncio.Server:
        """Answer on the loopback socket too, without TLS."""
        protocol = partial(
            cast("type[Any]", self.config.http_protocol_class),
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        return await asyncio.get_running_loop().create_server(protocol, sock=local, backlog=self.config.backlog)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; a second signal, or SIGINT of a person at the terminal, does not wait for balancers."""
        again = self._stopping.told.is_set()
        self._stopping.told.set()
        if again or sig == signal.SIGINT or not self._stopping.drain_seconds:
            super().handle_exit(sig, frame)
        else:
            self._ends_at = time.monotonic() + self._stopping.drain_seconds

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop; it is asked ten times a second."""
        if self._ends_at is not None and time.monotonic() >= self._ends_at:
            self.should_exit = True
        return await super().on_tick(counter)


def build_server(
    app: object,
    bounds: "ServerSettings",
    announce: Callable[[], None],
    stopping: Stopping,
    sockets: Sockets | None = None,
) -> uvicorn.Server:
    """Return the server of an app; requests in progress are finished before it ends."""
    tls = sockets.tls if sockets else None
    config = uvicorn.Config(
        app,  # pyright: ignore[reportArgumentType] - an ASGI app, whose type uvicorn spells in a private way
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE_SECONDS,
        proxy_headers=False,
        lifespan="auto",
        ws="none",
        http=bounded_protocol(patience=bounds.header_seconds, most=bounds.max_connections),
        ssl_certfile=str(tls.certificate) if tls else None,
        ssl_keyfile=str(tls.key) if tls else None,
        ssl_context_factory=_modern if tls else None,
    )
    return AnnouncingServer(config, announce, stopping, sockets.local if sockets else None)


def _modern(_: uvicorn.Config, usual: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """Return the context of a server that offers nothing older than TLS 1.2."""
    context = usual()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
