"""Answers whether the server is ready: at most one check runs at a time, and none keeps a caller waiting for long."""

import asyncio
from collections.abc import Callable
from typing import cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

#: A prober gives up soon after; a database that takes longer is of no use to callers either.
_PATIENCE_SECONDS = 5.0
_STOPPING = "the server is stopping"
_LATE = f"the catalog did not answer within {_PATIENCE_SECONDS:g} seconds; see: recollectum doctor"


class Readiness:
    """Whether one server can serve."""

    def __init__(self, check: Callable[[], str | None], is_stopping: Callable[[], bool]) -> None:
        self._check = check
        self._is_stopping = is_stopping
        self._running: asyncio.Task[str | None] | None = None

    async def problem(self) -> str | None:
        """Return what keeps the server from serving, in one sentence; None when nothing does."""
        if self._is_stopping():
            return _STOPPING
        if self._running is None or self._running.done():
            # Shared by all who ask while it runs: anybody may ask, and each check takes a thread and a connection.
            self._running = asyncio.create_task(run_in_threadpool(self._check))
        done, _ = await asyncio.wait({self._running}, timeout=_PATIENCE_SECONDS)
        if not done:
            return _LATE
        return _STOPPING if self._is_stopping() else self._running.result()


def readiness_of(request: HTTPConnection) -> Readiness:
    """Return the readiness of the server that handles a request."""
    return cast("Readiness", request.app.state.readiness)
