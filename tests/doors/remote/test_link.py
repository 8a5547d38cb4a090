"""One connection to a server: where the key goes, what is refused, and what a strange server can do."""

import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from recollectum.domain.errors import Busy, Denied, HomeError, InvalidInput, Undecided
from recollectum.domain.memory import Memory
from recollectum.doors.remote import link as link_module
from recollectum.doors.remote.decoding import decode
from recollectum.doors.remote.link import ServerLink
from recollectum.doors.remote.vault import open_served_vault
from recollectum.home.credentials.connection import Connection, check_url, find_connection
from recollectum.home.paths import Home
from tests.doors.server.certificates import CertificateFiles, make_certificate

KEY = "rk_" + "k" * 40


@contextmanager
def stub(*answers: bytes, tls: CertificateFiles | None = None) -> Generator[tuple[int, list[bytes]]]:
    """A server that gives these answers in turn, whatever it is asked; the requests it got."""
    got: list[bytes] = []
    left = list(answers)

    class Stub(socketserver.StreamRequestHandler):
        timeout = 10

        def setup(self) -> None:
            if tls:
                self.request = _with_tls(self.request, tls)
            super().setup()

        def finish(self) -> None:
            super().finish()
            self.request.close()

        def handle(self) -> None:
            head = b""
            while (line := self.rfile.readline()).strip():
                head += line
            got.append(head)
            if left:
                self.wfile.write(left.pop(0))

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing: a client that refuses the certificate goes away."""

    with Server(("127.0.0.1", 0), Stub) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1], got
        server.shutdown()


def _with_tls(plain: socket.socket, files: CertificateFiles) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    made = context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
    try:
        made.do_handshake()
    except OSError:
        made.close()
        raise
    return made


def answer(status: int, body: object, kind: str = "application/json", *more: str) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(data)}", "Connection: close"]
    return "\r\n".join([*lines, *more, "", ""]).encode() + data


def at(port: int, scheme: str = "http", host: str = "127.0.0.1", ca_file: Path | None = None) -> ServerLink:
    url = f"{scheme}://{host}:{port}"
    return ServerLink(Connection(url=url, key=KEY, ca_file=str(ca_file) if ca_file else None), seconds=5)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("https://memory.example.org", "https://memory.example.org"),
        ("https://Memory.Example.org:443/", "https://memory.example.org"),
        ("https://memory.example.org:8443", "https://memory.example.org:8443"),
        ("http://localhost:8377", "http://localhost:8377"),
        ("http://[::1]:8377/", "http://[::1]:8377"),
        ("http://127.8.8.8", "http://127.8.8.8"),
    ],
)
def test_an_address_has_one_form(given: str, plain: str) -> None:
    assert check_url(given) == plain


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("http://memory.example.org:8377", "not encrypted, so no key is sent there"),
        ("http://192.168.1.5", "not encrypted"),
        ("http://127.0.0.1.evil.example", "not encrypted"),
        ("http://localhost.evil.example", "not encrypted"),
        ("http://0.0.0.0:9000", "not encrypted"),
        ("https://me:secret@memory.example.org", "holds a name or a password"),
        ("https://memory.example.org/path", "without a path"),
        ("https://memory.example.org?x=1", "without a path"),
        ("https://memory.example.org:99999", "not the address"),
        ("ftp://memory.example.org", "not the address"),
        ("memory.example.org", "not the address"),
        ("https://", "not the address"),
        ("https://mémoire.example", "not the address"),
        ("https://a b", "not the address"),
        ("https://[::1", "not the address"),
    ],
)
def test_another_address_is_refused_without_its_password(given: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told) as refused:
        check_url(given)
    assert "secret" not in str(refused.value)


def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(tmp_path: Path) -> None:
    environ = {"RECOLLECTUM_URL": "https://a.example", "RECOLLECTUM_API_KEY": "rk_x\r\nHost: evil"}
    with pytest.raises(InvalidInput, match="not an API key") as refused:
        find_connection(Home(tmp_path), environ)
    assert "evil" not in str(refused.value)
    assert KEY not in repr(Connection(url="https://a.example", key=KEY))


@pytest.mark.loopback
def test_a_redirect_is_not_followed() -> None:
    with stub() as (other, got):
        moved = answer(307, {}, "application/json", f"Location: http://127.0.0.1:{other}/v1/me")
        with stub(moved) as (port, asked), pytest.raises(HomeError, match="redirect, which is not followed"):
            at(port).get("/v1/me")
        assert len(asked) == 1
        assert not got


@pytest.mark.loopback
def test_no_proxy_of_the_environment_gets_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with stub() as (proxy, got), stub(answer(200, {"ok": 1})) as (port, asked):
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        assert at(port).get("/v1/me") == {"ok": 1}
        assert not got
        assert f"Authorization: Bearer {KEY}".encode() in asked[0]


@pytest.mark.loopback
def test_plain_http_that_leads_elsewhere_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with stub(answer(200, {})) as (port, got):
        # As if the name `localhost` led to another machine.
        elsewhere: Callable[[str], object] = lambda _: type("Far", (), {"is_loopback": False})()  # noqa: E731
        monkeypatch.setattr(link_module, "ip_address", elsewhere)
        with pytest.raises(HomeError, match="leads to another machine without encryption"):
            at(port).get("/v1/me")
    assert got in ([], [b""])


@pytest.mark.loopback
def test_certificates_are_checked(tmp_path: Path) -> None:
    files, others = make_certificate(tmp_path / "a"), make_certificate(tmp_path / "b", "memory.example.org")
    with stub(answer(200, {"ok": 1}), tls=files) as (port, got):
        with pytest.raises(HomeError, match=r"certificate of https://localhost:.* is not accepted: .*CA_FILE"):
            at(port, "https", "localhost").get("/v1/me")
        with pytest.raises(HomeError, match="is not accepted"):
            at(port, "https", "localhost", others.authority).get("/v1/me")
        assert not got
        assert at(port, "https", "localhost", files.authority).get("/v1/me") == {"ok": 1}
    with stub(answer(200, {}), tls=others) as (port, got):
        with pytest.raises(HomeError, match="is not accepted"):
            at(port, "https", "localhost", others.authority).get("/v1/me")
        assert not got
    with pytest.raises(InvalidInput, match="not a file of certificate authorities"):
        at(1, "https", "localhost", tmp_path / "none.pem").get("/v1/me")


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("sent", "error", "told"),
    [
        (answer(200, b"<html>", "text/html"), HomeError, "does not answer as Recollectum does"),
        (answer(200, b"[1]"), HomeError, "does not answer as Recollectum does"),
        (answer(200, b"{" * 9), HomeError, "does not answer as Recollectum does"),
        (answer(401, {"status": 401}), Denied, "does not know this key"),
        (answer(421, {"status": 421, "title": "x"}), HomeError, "recollectum settings set server.hosts 127.0.0.1"),
        (answer(404, {"status": 404, "title": "there is no such path"}), HomeError, "older Recollectum"),
        (answer(429, {"status": 429, "title": "too many requests"}), Busy, "too many requests"),
        (answer(500, {"status": 500, "title": "x" * 9999}), HomeError, "refused: x"),
        (b"HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\n{", HomeError, "was lost; try again"),
        (b"nonsense\r\n\r\n", HomeError, "was lost; try again"),
        (b"", HomeError, "was lost; try again"),
    ],
)
def test_every_strange_answer_is_one_sentence(sent: bytes, error: type[Exception], told: str) -> None:
    with stub(sent) as (port, _), pytest.raises(error, match=told) as raised:
        at(port).get("/v1/me")
    assert KEY not in str(raised.value)
    assert len(str(raised.value)) < 700


@pytest.mark.loopback
def test_a_change_whose_answer_is_lost_is_undecided_and_not_sent_again() -> None:
    with stub(b"", answer(200, {})) as (port, got):
        with pytest.raises(Undecided, match="look before you try again"):
            open_served_vault(Connection(url=f"http://127.0.0.1:{port}", key=KEY)).memories.save("x")
        assert len(got) == 1


@pytest.mark.loopback
def test_an_export_that_breaks_off_is_not_taken_for_whole() -> None:
    head = b"HTTP/1.1 200 X\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    with stub(head + b"3\r\n{}\n\r\n0\r\n\r\n", head + b"3\r\n{}\n\r\n", head + b"2\r\n{}\r\n0\r\n\r\n") as (port, _):
        with closing(at(port)) as whole:
            assert list(whole.lines("/v1/exports/memories")) == [b"{}\n"]
        for _broken in range(2):
            with pytest.raises(HomeError, match="was lost; try again"):
                list(at(port).lines("/v1/exports/memories"))


@pytest.mark.loopback
def test_an_answer_that_never_ends_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "_MOST_BYTES", 2**20)
    endless = b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n\r\n" + b"[" * 2**21
    with stub(endless) as (port, _), pytest.raises(HomeError, match="sent more than 1 MiB"):
        at(port).get("/v1/me")


@pytest.mark.loopback
def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(HomeError, match="cannot be reached"):
        at(1).get("/v1/me")


def test_fields_that_are_unknown_are_ignored_and_missing_ones_have_their_default() -> None:
    known = {"id": "mem_1", "content": "x", "created_at": "2026-01-01T00:00:00+00:00"}
    whole = {**known, "updated_at": "2026-01-01T00:00:00+00:00", "of_the_future": {"a": 1}}
    memory = decode(Memory, whole, "a memory")
    assert (memory.kind.value, memory.version, memory.created_at.year) == ("fact", 1, 2026)
    wrongs: list[object] = [
        known,
        {**whole, "version": "1"},
        {**whole, "kind": "none"},
        {**whole, "created_at": 1},
        None,
    ]
    for wrong in wrongs:
        with pytest.raises(HomeError, match="the server sent a memory in a form that this version does not know"):
            decode(Memory, wrong, "a memory")
