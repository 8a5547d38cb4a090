"""MCP servers for tests: a real HTTP server in a thread of the test, and the real client library at its door."""

import asyncio
import os
import socket
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import uvicorn
from fastapi import FastAPI
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, Implementation
from starlette.types import ASGIApp

from recollectum import Recollectum
from recollectum.domain.access.caller import PermissionName
from recollectum.doors.http.server_state import ServerState, limits_of
from recollectum.doors.server.app import build_app

T = TypeVar("T")
MODES = ("auto", "legacy", "2026-07-28")
TOKEN = "local-token-of-this-run-" + "t" * 40


@dataclass(frozen=True, slots=True)
class Served:
    """One running server and its open home."""

    home: Recollectum
    port: int

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def new_key(self, person: str, *permissions: PermissionName) -> str:
        """A key for a person, who is added if need be."""
        self.home.vault(person)
        return self.home.keys.add(person, permissions=permissions or ("read", "write"))[1]


@contextmanager
def listening(make_app: Callable[[int], ASGIApp]) -> Generator[int]:
    """An app that answers on loopback; the port."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(make_app(port), log_level="critical", lifespan="on", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                time.sleep(0.005)
            yield port
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def serving(folder: Path) -> Generator[Served]:
    """The whole server over one home."""
    with Recollectum(folder, settings={"storage.reserve_mib": 0}) as home:

        def make(port: int) -> FastAPI:
            limits = limits_of(home.settings.server, host="127.0.0.1", port=port)
            return build_app(ServerState(home, TOKEN, limits, datetime.now(UTC)))

        with listening(make) as port:
            yield Served(home, port)


class Person(StrEnum):
    """What the person at a client says when they are asked, or whether the client can ask at all."""

    AGREES = "agrees"
    DECLINES = "declines"
    CANNOT_BE_ASKED = "cannot be asked"


def answering(person: Person) -> dict[str, Any]:
    """The part of a client that puts questions to its person."""

    async def say(_context: object, _params: object) -> ElicitResult:
        return ElicitResult(action="accept", content={"confirm": person is Person.AGREES})

    return {} if person is Person.CANNOT_BE_ASKED else {"elicitation_callback": say}


def named(name: str) -> Implementation:
    """What a client calls itself."""
    return Implementation(name=name, version="1")


@asynccontextmanager
async def over_http(
    url: str, key: str, mode: str, *, path: str = "/mcp", person: Person = Person.CANNOT_BE_ASKED, name: str = "tester"
) -> AsyncGenerator[Client]:
    """The client library at an HTTP server."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http:
        transport = streamable_http_client(url + path, http_client=http)
        async with Client(transport, mode=mode, client_info=named(name), **answering(person)) as client:
            yield client


@asynccontextmanager
async def over_stdio(
    mode: str,
    *flags: str,
    person: Person = Person.CANNOT_BE_ASKED,
    environ: Mapping[str, str] | None = None,
    name: str = "tester",
) -> AsyncGenerator[Client]:
    """The client library at a process of ours, for the home that the environment names."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "recollectum.doors.mcp", *flags],
        env={**os.environ, "RECOLLECTUM_STORAGE__RESERVE_MIB": "0", **(environ or {})},
    )
    async with Client(server, mode=mode, client_info=named(name), **answering(person)) as client:
        yield client


def run(work: Callable[[], Awaitable[T]]) -> T:
    """What a coroutine comes to."""

    async def bounded() -> T:
        async with asyncio.timeout(90):
            return await work()

    return asyncio.run(bounded())
