"""Ends connections that do not say what they want in time, and those that have waited longest when there are too many.

The server itself waits for the head of a request for ever, so a few hundred half-open connections would use up what the
process may open. A newcomer is never refused for them: the connection that has waited longest without a request goes.
"""

import asyncio
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedProtocol(H11Protocol):
    """One connection of the server, which must send what it begins."""

    #: Seconds for the head of a request from its first byte, and between two pieces of a body.
    patience = 10.0
    #: How many connections there are at once.
    most = 500

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as the server has it
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.began = self.loop.time()
        self._late: asyncio.TimerHandle | None = None
        self._wait()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request."""
        state = self.conn.their_state
        super().data_received(data)
        if self.conn.their_state is h11.SEND_BODY:
            # A body may be long: each piece has the time anew.
            self._stop_waiting()
            self._wait()
        elif self.conn.their_state is not h11.IDLE or not self.conn.trailing_data[0]:
            self._stop_waiting()
        elif self._late is None or state is not h11.IDLE:
            self._wait()

    @property
    def is_idle(self) -> bool:
        """Whether no request is at work on this connection."""
        cycle = cast("Any", self.cycle)
        return cycle is None or bool(cycle.response_complete)

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.patience, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        if self.flow.read_paused or self.conn.they_are_waiting_for_100_continue:
            # It is the server that has not asked for the rest yet.
            self._wait()
        else:
            self.transport.close()

    def _make_room(self) -> None:
        """End the connection that has waited longest without a request, when there are too many."""
        if len(self.connections) <= self.most:
            return
        waiting = (one for one in cast("set[BoundedProtocol]", self.connections) if one is not self and one.is_idle)
        oldest = min(waiting, key=lambda one: one.began, default=None)
        if oldest is not None:
            oldest.transport.abort()


def bounded_protocol(*, patience: float, most: int) -> type[BoundedProtocol]:
    """Return the protocol of a server with these bounds."""
    return type("ServerProtocol", (BoundedProtocol,), {"patience": patience, "most": most})
