"""A real HTTP server on a local socket, which answers from a script and remembers what it was asked."""

import json
import socket
import socketserver
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event, Thread
from typing import cast

from recollectum.models.http.endpoint import Endpoint


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, object]
    connection: int


@dataclass(frozen=True)
class Reply:
    """What to send; `hold` waits for the end of the test first, `drop` hangs up, `cut` sends only the beginning."""

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    raw: bytes | None = None
    hold: bool = False
    drip: bool = False
    drop: bool = False
    cut: bool = False
    chunked: bool = False

    @property
    def payload(self) -> bytes:
        return self.raw if self.raw is not None else json.dumps(self.body).encode()


Script = Callable[[Asked], Reply]


class _Scripted(socketserver.ThreadingMixIn):
    """Answers from a script until it is closed."""

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.connections = 0
        self.over = Event()


class Server(_Scripted, socketserver.UnixStreamServer):
    """Serves at a local socket."""

    def __init__(self, path: str, script: Script) -> None:
        _Scripted.__init__(self, script)
        socketserver.UnixStreamServer.__init__(self, path, _Handler)

    def connect(self, to: Endpoint, seconds: float) -> HTTPConnection:
        """What to give a Wire in place of a connection over the network."""
        return _LocalConnection(str(self.server_address), to.host, seconds)


class LoopbackServer(_Scripted, socketserver.TCPServer):
    """Serves at a port of this machine, so that the settings of a home can name it."""

    def __init__(self, script: Script) -> None:
        _Scripted.__init__(self, script)
        socketserver.TCPServer.__init__(self, ("127.0.0.1", 0), _Handler)

    @property
    def name(self) -> str:
        """The host and the port."""
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """The address for `base_url`."""
        return f"http://{self.name}/v1"


class _LocalConnection(HTTPConnection):
    def __init__(self, path: str, host: str, seconds: float) -> None:
        super().__init__(host, timeout=seconds)
        self._path = path
        self._seconds = seconds

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._seconds)
        self.sock.connect(self._path)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self._server.connections += 1
        self._number = self._server.connections

    @property
    def _server(self) -> _Scripted:
        return cast("_Scripted", self.server)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.path, headers, body, self._number)
        self._server.asked.append(asked)
        reply = self._server.script(asked)
        if reply.hold:
            self._server.over.wait(30)
        self.close_connection = self.close_connection or reply.drop or reply.cut
        if not reply.drop and not reply.hold:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for part in (reply.payload[:2], reply.payload[2:]):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(reply.payload)))
        self.end_headers()
        if reply.drip:
            self._drip(reply.payload)
            return
        self.wfile.write(reply.payload[:5] if reply.cut else reply.payload)

    def _drip(self, payload: bytes) -> None:
        """A byte at a time, each well within any timeout for a single read."""
        try:
            for at in range(len(payload)):
                self.wfile.write(payload[at : at + 1])
                if self._server.over.wait(0.02):
                    return
        except OSError:
            # The client lost patience, which is what it is here to show.
            self.close_connection = True


@contextmanager
def serving(script: Script) -> Generator[Server]:
    """A server for the length of a block; its path is short, because a local socket's must be."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="http-") as folder:
        server = Server(str(Path(folder) / "s"), script)
        with _running(server):
            yield server


@contextmanager
def serving_on_loopback(script: Script) -> Generator[LoopbackServer]:
    """A server at a free port for the length of a block."""
    server = LoopbackServer(script)
    with _running(server):
        yield server


@contextmanager
def _running(server: Server | LoopbackServer) -> Generator[None]:
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def in_order(*replies: Reply) -> Script:
    """Each reply once, and the last for ever."""
    waiting = list(replies)

    def script(_: Asked) -> Reply:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return script
