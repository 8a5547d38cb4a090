"""A real server on loopback, in a thread of the test, and a client that says exactly what it sends."""

import json
import socket
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from recollectum import Recollectum
from recollectum.domain.access.caller import PermissionName
from recollectum.doors.http.server_state import ServerState, limits_of
from recollectum.doors.server.app import build_app
from recollectum.doors.server.connections import bounded_protocol

TOKEN = "local-token-of-this-run-" + "t" * 40


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever the server says
        """The body, read."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Served:
    """One running server and its open home."""

    home: Recollectum
    app: FastAPI
    port: int
    address: str = "127.0.0.1"
    #: Sent with each request, unless another is given.
    secret: str | None = None

    def with_key(self, secret: str | None) -> "Served":
        """The same server for another caller."""
        return replace(self, secret=secret)

    def new_key(self, person: str, *permissions: PermissionName) -> str:
        """A key for a person, who is added if need be."""
        self.home.vault(person)
        return self.home.keys.add(person, permissions=permissions or ("read", "write"))[1]

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Send one request; an underscore in a header's name is a dash."""
        sent = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = HTTPConnection(self.address, self.port, timeout=30)
        try:
            connection.request(method, path, data, {name: value for name, value in sent.items() if value})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read())
        finally:
            connection.close()


@contextmanager
def serving(
    folder: Path, *, bind: str = "127.0.0.1", settings: Mapping[str, object] | None = None
) -> Generator[Served]:
    """A server that listens on an address, with alice's key in its hand."""
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    # Named, or the loop does not know that it may turn Nagle's delay off.
    with socket.socket(family, proto=socket.IPPROTO_TCP) as listener, Recollectum(folder, settings=settings) as home:
        listener.bind((bind, 0))
        port = listener.getsockname()[1]
        limits = limits_of(home.settings.server, host=bind, port=port)
        app = build_app(ServerState(home, TOKEN, limits, datetime.now(UTC)))
        bounds = home.settings.server
        http = bounded_protocol(patience=bounds.header_seconds, most=bounds.max_connections)
        config = uvicorn.Config(app, log_level="critical", server_header=False, lifespan="off", http=http)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.005)
            address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bind, bind)
            here = Served(home, app, port, address)
            yield here.with_key(here.new_key("user:alice"))
        finally:
            server.should_exit = True
            thread.join()
