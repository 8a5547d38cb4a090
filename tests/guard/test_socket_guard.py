"""The guard refuses the network here and in a child, writes it down, and leaves local sockets alone."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.runs import run_pytest
from tests.plugins.sockets import RECORD

pytestmark = pytest.mark.process

_TALKS = """import contextlib, socket
def test_talks():
    with contextlib.suppress(RuntimeError):
        socket.socket()
"""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of this test's own, because the run's would fail the run."""
    path = tmp_path / "refused"
    monkeypatch.setenv(RECORD, str(path))
    return path


@pytest.mark.feature("G19")
def test_a_socket_in_this_process_is_refused_and_recorded(record: Path) -> None:
    with pytest.raises(RuntimeError, match="no network socket"):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    assert record.read_text().startswith(f"socket.__new__ at {__file__}:")


@pytest.mark.feature("G19")
@pytest.mark.parametrize(
    "attempt",
    [
        "socket.socket()",
        "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
        "socket.create_connection(('localhost', 9))",
        "socket.getaddrinfo('localhost', 80)",
        "socket.gethostbyname('localhost')",
        "urllib.request.urlopen('http://localhost:9')",
    ],
)
def test_a_socket_in_a_child_is_recorded_even_when_the_child_hides_it(record: Path, attempt: str) -> None:
    program = f"import socket, urllib.request\ntry:\n    {attempt}\nexcept Exception:\n    pass\n"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert len(record.read_text().splitlines()) >= 1


@pytest.mark.parametrize(
    ("line", "is_recorded"),
    [("import urllib3", False), ("import urllib3; urllib3.request('GET', 'http://127.0.0.1:9', retries=False)", True)],
)
def test_the_look_for_ipv6_of_a_library_is_refused_and_not_held_against_it(
    record: Path, line: str, *, is_recorded: bool
) -> None:
    program = f"try:\n    {line}\nexcept Exception:\n    pass\n"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert record.exists() is is_recorded


def test_a_local_socket_pair_is_allowed(record: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"hello")
        assert theirs.recv(5) == b"hello"
    assert not record.exists()


@pytest.mark.feature("G19")
@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_run_in_which_a_socket_was_asked_for_fails(tmp_path: Path, workers: str) -> None:
    run = run_pytest(tmp_path, _TALKS, workers, plugin="sockets")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    assert "1 passed" in run.stdout
    assert "test_it.py:4" in run.stdout


@pytest.mark.loopback
def test_a_test_that_may_use_loopback_reaches_this_machine_and_no_other(record: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as ours:
        theirs, _ = server.accept()
        with theirs:
            ours.sendall(b"hello")
            assert theirs.recv(5) == b"hello"
    assert not record.exists()
    for attempt in (lambda: socket.create_connection(("192.0.2.1", 9)), lambda: socket.getaddrinfo("example.com", 80)):
        with pytest.raises(RuntimeError, match="no network socket"):
            attempt()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packet, pytest.raises(RuntimeError, match="no network"):
        packet.sendto(b"hello", ("198.51.100.7", 9))
    assert len(record.read_text().splitlines()) == 3


@pytest.mark.loopback
def test_a_child_of_a_test_that_may_use_loopback_may_too(record: Path) -> None:
    reaches = (
        "import socket; socket.create_server(('127.0.0.1', 0)).close(); socket.create_connection(('192.0.2.1', 9))"
    )
    run = subprocess.run([sys.executable, "-c", reaches], capture_output=True, text=True)
    assert "SocketRefused: socket.getaddrinfo" in run.stderr
    assert len(record.read_text().splitlines()) == 1
