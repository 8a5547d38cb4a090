"""A real server over a copy of the world, and callers of every kind at its door; what it logs is kept."""

import base64
import json
import logging
import socket
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Route

from recollectum import Recollectum
from recollectum.doors.http.server_state import ServerState, limits_of
from recollectum.doors.server.app import add_embedding, build_app
from tests.matrix.homes import Turning, open_home
from tests.matrix.over_http_world import TOKEN, Scene, load
from tests.matrix.world import NOW

SETTINGS = {
    "server.rate_per_minute": 0,
    "server.address_rate_per_minute": 0,
    "server.failures_per_minute": 0,
    "log.level": "debug",
}
#: What says nothing about what was asked.
_OF_CHANCE = ("date", "content-length")


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The answer as one text."""
        lines = (f"{name}: {value}" for name, value in sorted(self.headers.items()) if name not in _OF_CHANCE)
        return "\n".join((str(self.status), *lines, self.body.decode("utf-8", "replace")))


class Lines(logging.Handler):
    """Every line that any part of the process logs."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line, with the error behind it."""
        self.lines.append(self.format(record))


@dataclass(frozen=True, slots=True)
class Server:
    """One running server, and the open home behind it."""

    home: Recollectum
    app: FastAPI
    port: int
    scene: Scene
    log: Lines
    connection: HTTPConnection = field(repr=False)

    def ask(
        self, caller: str, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request of one caller."""
        shown, path = self._shown(caller, path)
        return self.send(method, path, body, {**shown, **(headers or {})})

    def send(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> Answer:
        """One request as it is."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"} if data is not None else {}
        self.connection.request(method, path, data, {**kind, **headers})
        answer = self.connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read())

    def _shown(self, caller: str, path: str) -> tuple[dict[str, str], str]:
        alice = self.scene.secrets["alice"]
        odd = {
            "nobody": {},
            "empty": {"Authorization": "Bearer "},
            "basic": {"Authorization": f"Basic {base64.b64encode(f'{alice}:{alice}'.encode()).decode()}"},
            "other_scheme": {"Authorization": f"Digest {alice}"},
            "shortened": {"Authorization": f"Bearer {TOKEN[:-1]}"},
            "as_a_cookie": {"Cookie": f"recollectum_session={alice}; token={alice}"},
            "operator": {"Authorization": f"Bearer {TOKEN}"},
            "acting": {"Authorization": f"Bearer {TOKEN}", "Recollectum-User": "alice"},
            "in_the_query": {},
        }
        if caller == "in_the_query":
            parts = (f"{name}={alice}" for name in ("token", "key", "api_key", "access_token", "authorization"))
            path += ("&" if "?" in path else "?") + "&".join(parts)
        if caller in odd:
            return odd[caller], path
        # A header that only the local token may use: for a key it means nothing.
        other = "user:bob" if caller.startswith(("alice", "admin")) else "user:alice"
        return {"Authorization": f"Bearer {self.scene.secrets[caller]}", "Recollectum-User": other}, path


@contextmanager
def serving(folder: Path) -> Generator[Server]:
    """A server over the home in a folder."""
    with (
        socket.socket(proto=socket.IPPROTO_TCP) as listener,
        open_home(folder, Turning(NOW), settings=SETTINGS) as home,
        _logged() as log,
    ):
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        limits = limits_of(home.settings.server, host="127.0.0.1", port=port)
        app = build_app(ServerState(home, TOKEN, limits, NOW))
        # As the daemon does.
        add_embedding(app)
        config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, lifespan="on", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.005)
            yield Server(home, app, port, load(folder), log, connection)
        finally:
            connection.close()
            server.should_exit = True
            thread.join()


@contextmanager
def _logged() -> Generator[Lines]:
    log, root = Lines(), logging.getLogger()
    before = root.level
    root.addHandler(log)
    root.setLevel(logging.DEBUG)
    try:
        yield log
    finally:
        root.setLevel(before)
        root.removeHandler(log)


def routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Every route there is, as `GET /path`, and the module behind it."""
    for route in (one.original_route for one in iter_route_contexts(app.routes)):
        assert isinstance(route, Route), f"{route} is no route that the matrix can ask"
        methods = (route.methods or {"POST", "DELETE", "GET"}) - {"HEAD"}
        module = getattr(route.endpoint, "__module__", type(route.endpoint).__module__)
        yield from ((f"{method} {route.path}", module) for method in sorted(methods))


def for_owner(path: str, owner: str | None) -> str:
    """The path for another owner's vault."""
    if owner is None:
        return path
    return f"{path}{'&' if '?' in path else '?'}owner={quote(owner, safe='')}"
