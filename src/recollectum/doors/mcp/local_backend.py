"""Answers requests from the home opened in this process, when no daemon runs."""

import asyncio
import threading
from itertools import count
from typing import TYPE_CHECKING

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.doors.mcp.declarations import McpProfile, Wire
from recollectum.doors.mcp.target import McpTarget

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

    from recollectum.domain.access.owner import Owner
    from recollectum.engine import Recollectum

_NEEDED = "the MCP server needs a package that is not installed; run: pip install 'recollectum[mcp]'"
_BACKLOG = 64


class LocalBackend:
    """Serves requests of the newer era from an event loop in a thread of its own."""

    def __init__(self, whom: McpTarget, offer: McpProfile) -> None:
        # Only now: together they take a second, which a client that only lists tools does not wait.
        from recollectum.doors.mcp.client import Confirmations, McpClient  # noqa: PLC0415
        from recollectum.doors.mcp.sdk_server import build_server  # noqa: PLC0415

        self._home, seen, person = _open(whom)
        confirmations = Confirmations()

        def find_guest(_: object, agent: str) -> McpClient:
            return McpClient(seen.with_client(f"mcp:{agent}").vault(person, agent=agent), agent, confirmations)

        self._server = build_server(offer, find_guest)
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Wire]] = {}
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._sending: MemoryObjectSendStream[SessionMessage | Exception] | None = None
        self._thread = threading.Thread(target=self._run, name="mcp", daemon=True)
        self._thread.start()

    def exchange(self, request: Wire) -> Wire:
        """The response to a request of the newer era."""
        return asyncio.run_coroutine_threadsafe(self._ask(request), self._loop).result()

    def close(self) -> None:
        """Close the home; what is being written is finished first."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._home.close()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        import anyio  # noqa: PLC0415 - the SDK has loaded it by now
        from mcp.shared.message import SessionMessage  # noqa: PLC0415

        sending, read = anyio.create_memory_object_stream[SessionMessage | Exception](_BACKLOG)
        write, receiving = anyio.create_memory_object_stream[SessionMessage](_BACKLOG)
        self._sending = sending
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._server.run, read, write, self._server.create_initialization_options())
            tasks.start_soon(self._receive, receiving)
            await self._stop.wait()
            await sending.aclose()

    async def _ask(self, request: Wire) -> Wire:
        from mcp.shared.message import SessionMessage  # noqa: PLC0415 - the SDK has loaded it by now
        from mcp_types import JSONRPCRequest  # noqa: PLC0415

        while self._sending is None:
            # The loop has run no step of the server yet.
            await asyncio.sleep(0)
        # Ids of our own: a client may use one again.
        number = next(self._ids)
        answer = self._waiting[number] = self._loop.create_future()
        message = JSONRPCRequest(jsonrpc="2.0", id=number, method=request["method"], params=request["params"])
        await self._sending.send(SessionMessage(message))
        return {**await answer, "id": request["id"]}

    async def _receive(self, receiving: "MemoryObjectReceiveStream[SessionMessage]") -> None:
        async with receiving:
            async for one in receiving:
                said: Wire = one.message.model_dump(by_alias=True, mode="json", exclude_none=True)
                waiting = self._waiting.pop(said.get("id", 0), None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(said)


def open_local_backend(whom: McpTarget, offer: McpProfile) -> LocalBackend:
    """The home in this process, or one sentence about why not."""
    if whom.user is not None and not whom.place.catalog_file.exists():
        raise NotFound(f"there is no home at {whom.place.root} yet; make it with: recollectum init")
    try:
        return LocalBackend(whom, offer)
    except ModuleNotFoundError as error:
        raise InvalidInput(_NEEDED) from error


def _open(whom: McpTarget) -> "tuple[Recollectum, Recollectum, Owner]":
    """The open home, the home as the person sees it, and the person."""
    from recollectum.engine import Recollectum  # noqa: PLC0415 - see above

    home = Recollectum(whom.place.root, environ=whom.environ)
    try:
        if home.caller.person is not None:
            return home, home, home.caller.person
        person = whom.person()
        if whom.user is not None:
            # A typing error must not make another vault.
            home.people.get(person)
        return home, home.as_person(str(person)), person
    except BaseException:
        home.close()
        raise
