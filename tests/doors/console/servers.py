"""A real server with the console on a port of this machine, and a signed-in way to it, for the tests."""

import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import uvicorn
from fastapi import FastAPI

from recollectum.domain.access.owner import Owner
from recollectum.doors.console.sign_in_desk import SignInDesk
from recollectum.doors.http.server_state import RequestLimits, ServerState, allowed_hosts
from recollectum.doors.server.app import build_app
from recollectum.engine import Recollectum
from tests.matrix.homes import Turning, open_home

TOKEN = "t" * 43


@dataclass(frozen=True, slots=True)
class Place:
    """A running server."""

    url: str
    app: FastAPI
    home: Recollectum
    clock: Turning

    @property
    def desk(self) -> SignInDesk:
        """Where one signs in."""
        return self.app.state.console_desk

    def link(self, person: str) -> str:
        """A one-time link, made as the daemon makes it."""
        return f"{self.url}/login?link={self.desk.make_link(Owner.parse(person))}"

    @contextmanager
    def client(self, person: str | None = None) -> Generator[httpx2.Client]:
        """A browser without a window, signed in when a person is named."""
        with httpx2.Client(base_url=self.url, timeout=20, trust_env=False) as made:
            if person is not None:
                answer = made.post("/login", data={"link": self.desk.make_link(Owner.parse(person))})
                assert answer.status_code == 303, answer.text
            yield made


@contextmanager
def served(folder: Path, clock: Turning, *, encryption: str = "off") -> Generator[Place]:
    """A home behind a server, until the block ends."""
    with open_home(folder, clock, encryption=encryption) as home, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        limits = RequestLimits(hosts=allowed_hosts("127.0.0.1", port), failures=0, per_address=0)
        app = build_app(ServerState(home, TOKEN, limits, clock()))
        app.state.console_desk = SignInDesk(clock)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                if not thread.is_alive():
                    raise RuntimeError("the server did not start")
                time.sleep(0.01)
            yield Place(f"http://127.0.0.1:{port}", app, home, clock)
        finally:
            server.should_exit = True
            thread.join()
