"""Connections that say nothing, or say it slowly, take nobody's place."""

import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.doors.http.served import Served, serving

pytestmark = pytest.mark.loopback

_GIVE_UP = 30


def _open(served: Served, sent: bytes) -> socket.socket:
    made = socket.create_connection((served.address, served.port), timeout=_GIVE_UP)
    made.sendall(sent)
    return made


def _is_closed(connection: socket.socket) -> bool:
    """Whether the server ends it within the time that a test waits."""
    try:
        while connection.recv(1 << 12):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


HEAD = b"POST /memory/add HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def test_a_request_whose_head_or_body_never_ends_is_ended(tmp_path: Path) -> None:
    body = HEAD.replace(b"127.0.0.1", b"127.0.0.1:%d") + b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    with serving(tmp_path / "home", settings={"server.header_seconds": 0.5}) as served:
        whole = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode()
        slow = [b"", b"G", HEAD, body % served.port, whole + HEAD]
        with ExitStack() as stack:
            connections = [stack.enter_context(_open(served, sent)) for sent in slow]
            assert [_is_closed(one) for one in connections] == [True] * len(slow)
        assert served.ask("GET", "/memory").status == 200


def test_a_head_that_comes_drop_by_drop_is_ended(tmp_path: Path) -> None:
    impatient = {"server.header_seconds": 0.5}
    with (
        serving(tmp_path / "home", settings=impatient) as served,
        _open(served, HEAD) as connection,
        pytest.raises(OSError, match=r"."),
    ):
        _drip(connection)


def _drip(connection: socket.socket) -> None:
    give_up = time.monotonic() + _GIVE_UP
    while time.monotonic() < give_up:
        connection.sendall(b"X-A: b\r\n")
        time.sleep(0.1)


def test_too_many_connections_end_the_idlest_and_refuse_nobody(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.max_connections": 10}) as served, ExitStack() as stack:
        half_open = [stack.enter_context(_open(served, HEAD)) for _ in range(40)]
        assert [served.ask("GET", "/memory").status for _ in range(5)] == [200] * 5
        assert all(map(_is_closed, half_open[:20]))
