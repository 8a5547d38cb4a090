"""Builds the server that listens: it announces itself, fails `/readyz` when it is told to stop, and then drains."""

import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import uvicorn

from recollectum.doors.server.connections import bounded_protocol

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


class AnnouncingServer(uvicorn.Server):
    """Announces that it listens once it does, and answers for a while after it was told to stop."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None], stopping: Stopping) -> None:
        super().__init__(config)
        self._announce = announce
        self._stopping = stopping
        self._ends_at: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        # A signal may have come before there was a server to receive it.
        self.should_exit = self.should_exit or self._stopping.told.is_set()
        if self.started and not self.should_exit:
            self._announce()

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
    app: object, bounds: "ServerSettings", announce: Callable[[], None], stopping: Stopping
) -> uvicorn.Server:
    """Return the server of an app; requests in progress are finished before it ends."""
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
    )
    return AnnouncingServer(config, announce, stopping)
