"""Lists and pages of the HTTP, console and MCP doors, and `doctor`, as calls on the vault of `million`."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from bench.million_looks import memory_id
from bench.million_vault import OWNER
from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import system_clock
from recollectum.doors.console.sign_in_desk import SignInDesk
from recollectum.doors.http.server_state import RequestLimits, ServerState, allowed_hosts
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.local_backend import LocalBackend
from recollectum.doors.mcp.target import McpTarget
from recollectum.doors.server.app import build_app
from recollectum.upkeep.doctor.examination import examine

_PORT = 8377
_ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    }
}
_LISTS = (
    *(f"/v1/memories?state={state}" for state in ("active", "archived", "soft_deleted")),
    *(f"/v1/memories/{{memory}}{part}" for part in ("", "/history", "/sources")),
    *(f"/v1/{name}" for name in ("events", "learnings", "review", "receipts", "profile", "keys", "sessions")),
    *(f"/v1/sessions/{{session}}{part}" for part in ("", "/messages")),
)
_PAGES = (
    "/",
    "/?q=soup+after+lunch",
    *(f"/console/memories?state={state}" for state in ("active", "archived", "soft_deleted")),
    "/console/memories?state=archived&before={memory}",
    "/console/memories/{memory}",
    "/console/conversations",
    "/console/conversations/{session}",
    *(f"/console/{name}" for name in ("review", "timeline", "privacy", "health")),
    "/console/context?q=soup+after+lunch",
)


@dataclass(frozen=True, slots=True)
class OpenDoors:
    """The doors of one home in this process, so that the work of SQLite can be counted."""

    home: Recollectum
    runner: asyncio.Runner
    keyed: httpx2.AsyncClient
    signed_in: httpx2.AsyncClient
    mcp: LocalBackend

    def get(self, path: str) -> None:
        """Ask for a list over HTTP."""
        self.send(self.keyed, "GET", path)

    def page(self, path: str) -> None:
        """Ask for a page of the console."""
        self.send(self.signed_in, "GET", path)

    def call(self, tool: str, given: Mapping[str, Any]) -> None:
        """Call a tool over MCP."""
        params = {**_ENVELOPE, "name": tool, "arguments": given}
        answer = self.mcp.exchange({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        if answer["result"].get("isError"):
            raise RuntimeError(f"{tool}: {answer['result']}")

    def send(self, client: httpx2.AsyncClient, method: str, path: str, body: object = None) -> None:
        """Send a request, and raise unless it succeeds."""
        answer = self.runner.run(client.request(method, path, json=body))
        if answer.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:300]}")

    def examine(self) -> None:
        """Examine the home as `recollectum doctor` does."""
        home = self.home
        examine(home.admin, lambda owner: home.vault(owner, create=False).admin.clock(), home.settings)


@dataclass(frozen=True, slots=True)
class DoorLook:
    """One call at one door."""

    door: str
    what: str
    run: Callable[[OpenDoors], None]

    def __str__(self) -> str:
        """Return the call for a table."""
        return f"{self.door} {self.what}".strip()


@contextmanager
def open_doors(folder: Path) -> Generator[OpenDoors]:
    """Open a home behind all doors, without a socket."""
    with contextlib.ExitStack() as stack:
        home = stack.enter_context(Recollectum(folder))
        limits = RequestLimits(hosts=allowed_hosts("127.0.0.1", _PORT), failures=0, per_address=0, per_key=0)
        app = build_app(ServerState(home, "t" * 43, limits, system_clock()))
        desk = app.state.console_desk = SignInDesk(system_clock)
        runner = stack.enter_context(asyncio.Runner())
        key = home.keys.add(OWNER, permissions=("read", "write", "admin")).secret
        keyed, signed_in = (
            httpx2.AsyncClient(
                transport=httpx2.ASGITransport(app=app), base_url=f"http://127.0.0.1:{_PORT}", headers=headers
            )
            for headers in ({"Authorization": f"Bearer {key}"}, {})
        )
        link = desk.make_link(Owner.parse(OWNER))
        runner.run(signed_in.post("/login", data={"link": link}))
        mcp = LocalBackend(McpTarget(home=str(folder), user=OWNER, environ=dict(os.environ)), DEFAULT)
        stack.callback(mcp.close)
        yield OpenDoors(home, runner, keyed, signed_in, mcp)
        for client in (keyed, signed_in):
            runner.run(client.aclose())


def door_looks(count: int) -> Iterator[DoorLook]:
    """Yield every list and page at the doors of a vault of so many memories."""
    memory, session = memory_id(count // 2 + 20), f"ses_{count // 40:026}"
    for path in _LISTS:
        yield DoorLook("GET", path, lambda d, p=path: d.get(p.format(memory=memory, session=session)))
    asked = {"query": "soup after lunch"}
    yield DoorLook("POST", "/v1/recall", lambda d: d.send(d.keyed, "POST", "/v1/recall", asked))
    for path in _PAGES:
        yield DoorLook("console", path, lambda d, p=path: d.page(p.format(memory=memory, session=session)))
    for state in ("active", "archived", "soft_deleted"):
        yield DoorLook("MCP list", state, lambda d, s=state: d.call("list", {"state": s}))
        before = {"state": state, "before": memory}
        yield DoorLook("MCP list", f"{state}, middle", lambda d, b=before: d.call("list", b))
    yield DoorLook("MCP recall", "", lambda d: d.call("recall", asked))
    yield DoorLook("MCP sessions", "", lambda d: d.call("sessions", {}))
    yield DoorLook("doctor", "", OpenDoors.examine)
