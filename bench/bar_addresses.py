"""Measures addresses: spellings of internal ones, servers that redirect, names that change their meaning."""

import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TypeAlias

import pytest

from bench.bar_row import Measured
from recollectum.domain.errors import RecollectumError
from recollectum.models.http.client import Connect, JsonClient, RequestAccess, connect
from recollectum.models.http.endpoint import endpoint

#: Posts something to an address.
Post: TypeAlias = Callable[[str], object]
_HOSTS = (
    *(
        "169.254.169.254",
        "2852039166",
        "0xA9FEA9FE",
        "0251.0376.0251.0376",
        "169.254.43518",
        "[::ffff:169.254.169.254]",
    ),
    *("[fd00:ec2::254]", "metadata.google.internal", "metadata", "10.0.0.1", "192.168.0.1", "172.16.0.1", "0.0.0.0"),
    *("[::]", "localhost.evil.example", "127.0.0.1.nip.io", "127.0.0.1.evil.example", "localtest.me", "0", "1"),
    *("evil@169.254.169.254", "localhost@10.0.0.1", "127.0.0.1#@10.0.0.1", "127.0.0.1 10.0.0.1", "100.100.100.200"),
    *("[fe80::1]", "192.0.0.192", "①⑥⑨.254.169.254", "127.0.0.1\t.evil.example", "host.docker.internal"),
)
_STATUSES = (301, 302, 303, 307, 308)
#: The answers of the resolver for `localhost`, query by query.
_MEANINGS = (
    ("10.0.0.1",),
    ("169.254.169.254",),
    ("fd00:ec2::254",),
    ("127.0.0.1", "10.0.0.1"),
    ("::ffff:169.254.169.254",),
    ("0.0.0.0",),
)


def addresses(
    *, long: bool, plain_http: bool = False, post: Post | None = None, connect: Connect = connect
) -> Measured:
    """Count texts that reach an unnamed address: in clear text by a spelling, by a redirect, or by a changing name."""
    hosts = [f"{host}{port}" for host in _HOSTS for port in (("", ":80", ":8080") if long else ("",))]
    accepted = sum(_is_accepted(host, plain_http=plain_http) for host in hosts)
    followed = sum(_is_followed(status, post or _post) for status in _STATUSES for _ in range(5 if long else 1))
    reached = sum(bool(_reached(meaning, connect)) for meaning in _MEANINGS)
    said = f"{accepted} of {len(hosts)} spellings accepted, {followed} redirects followed of {len(_STATUSES)} kinds"
    said += f", {reached} of {len(_MEANINGS)} changed names reached"
    return Measured(said, accepted == followed == reached == 0 and len(hosts) >= 25)


def _is_accepted(host: str, *, plain_http: bool) -> bool:
    with suppress(RecollectumError):
        endpoint(f"http://{host}/v1", plain_http=plain_http)
        return True
    return False


def _post(url: str) -> object:
    wire = JsonClient(
        endpoint(url, plain_http=False), RequestAccess(headers={"Authorization": "Bearer x"}), timeout_seconds=5
    )
    try:
        with suppress(RecollectumError):
            for _ in wire.stream("/embeddings", {"input": ["private"]}):
                pass
        return wire.post("/embeddings", {"input": ["private"]})
    finally:
        wire.close()


def _is_followed(status: int, post: Post) -> bool:
    """Return whether a server receives anything when another one redirects to it."""
    with _listening(200, "") as (elsewhere, heard), _listening(status, elsewhere) as (here, asked):
        # An engine that follows the redirect may fail later, at the answer.
        with suppress(RecollectumError, OSError):
            post(here)
        assert asked, "nobody asked the first server"
        return bool(heard)


@contextmanager
def _listening(status: int, location: str) -> Generator[tuple[str, list[str]]]:
    """Yield a local server that gives one answer: its address, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Location", location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
        server.shutdown()
        thread.join()


def _reached(meaning: tuple[str, ...], connect: Connect) -> list[str]:
    """Return the addresses beyond this machine that a text for `localhost` is sent to, by what the name resolves to."""
    answers = iter(meaning)
    last = meaning[-1]
    tried: list[str] = []

    def meant(host: str) -> str:
        return next(answers, last) if host == "localhost" else host

    def looked_up(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        address = meant(host)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    def opened(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        # Some let the system resolve; then what counts is what it would have found.
        tried.append(meant(address[0]))
        raise ConnectionRefusedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", looked_up)
        patch.setattr(socket, "create_connection", opened)
        wire = JsonClient(
            endpoint("http://localhost:9/v1", plain_http=False), RequestAccess(), timeout_seconds=5, connect=connect
        )
        for _ in range(2):
            with suppress(RecollectumError):
                wire.post("/embeddings", {"input": ["private"]})
    return [address for address in tried if not address.startswith("127.") and address != "::1"]
