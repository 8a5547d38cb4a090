"""Delivers an event to the daemon, else to the hook worker, else to a worker that it starts."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from recollectum.doors.hook.worker_socket import SOCKET, STOP, has_unix_sockets, read_all, run_folder, working_folder
from recollectum.home.daemon import Daemon, find_daemon
from recollectum.home.paths import Home

_MAX_ANSWER = 4 * 2**20
#: A worker serves everyone with this account's files. A caller with a key has fewer rights, and gets a separate one.
_KEY_VARIABLE = "RECOLLECTUM_API_KEY"
#: The share of the remaining time in which a daemon must accept an event; the rest is for a worker.
_DAEMON_SHARE = 0.4
#: How long a worker may take to hear that it shall exit; it may be answering somebody.
_STOP_SECONDS = 2.0
_CONTINUE = b"100"
_TOO_MANY = b"429"


class EventNotTaken(Exception):
    """Raised when the daemon did not accept the event and did nothing with it; another process may."""


def deliver(home: Home, asked: Mapping[str, object], environ: Mapping[str, str], by: float, *, waits: bool) -> bytes:
    """Return the answer of the process that takes the event; empty when the caller does not wait."""
    data = json.dumps(asked).encode()
    keyed = _KEY_VARIABLE in environ
    daemon = None if keyed else find_daemon(home)
    # The daemon needs the name of the person it acts for.
    if daemon is not None and asked.get("user"):
        with suppress(EventNotTaken):
            return _to_daemon(daemon, asked, data, by)
    if has_unix_sockets() and not keyed:
        answer = _to_worker(home, data, by, waits=waits)
        if answer is not None:
            return answer
    return _to_new_worker(home, data, environ, waits=waits)


def stop_worker(home: Home) -> None:
    """Ask the running worker to record what is left and to exit, if there is one."""
    if has_unix_sockets():
        with suppress(OSError):
            _to_worker(home, STOP, time.monotonic() + _STOP_SECONDS, waits=True)


def _to_daemon(daemon: Daemon, asked: Mapping[str, object], data: bytes, by: float) -> bytes:
    """Send one request by hand: the HTTP library takes longer to import than the daemon to answer.

    The event is sent only after the daemon accepts the request, so that a daemon that stalls or refuses has not
    recorded it, and a worker that is asked next does not record it twice.
    """
    place = urlsplit(daemon.url)
    host, port = place.hostname or "127.0.0.1", place.port or 80
    head = (
        f"POST /hook HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {daemon.token}\r\n"
        f"Recollectum-User: {asked['user']}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        "Expect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    try:
        connection = socket.create_connection((host, port), timeout=_seconds_left(by) * _DAEMON_SHARE)
    except OSError:
        raise EventNotTaken from None
    with connection:
        _wait_for_leave(connection, head.encode("latin-1", "replace"))
        connection.settimeout(_seconds_left(by))
        connection.sendall(data)
        reply = read_all(connection, _MAX_ANSWER)
    top, _, body = reply.partition(b"\r\n\r\n")
    if b" 200 " not in top.split(b"\r\n", 1)[0]:
        raise ConnectionError("the daemon did not accept the event")
    return body if body.startswith(b"{") else b""


def _wait_for_leave(connection: socket.socket, head: bytes) -> None:
    """Send the headers of a request, and wait until the daemon asks for the body."""
    said = b""
    try:
        connection.sendall(head)
        while b"\r\n\r\n" not in said and (piece := connection.recv(1 << 12)):
            said += piece
    except OSError:
        raise EventNotTaken from None
    status = said[9:12]
    if not status or status == _TOO_MANY or status.startswith(b"5"):
        raise EventNotTaken
    if status != _CONTINUE:
        raise ConnectionError("the daemon did not accept the event")


def _to_worker(home: Home, data: bytes, by: float, *, waits: bool) -> bytes | None:
    """Return the answer of the running worker; None when there is none."""
    folder = run_folder(home)
    if not (folder / SOCKET).exists():
        return None
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_seconds_left(by))
            with working_folder(folder):
                connection.connect(SOCKET)
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return read_all(connection, _MAX_ANSWER) if waits else b""
    except (ConnectionRefusedError, ConnectionResetError, FileNotFoundError):
        return None


def _to_new_worker(home: Home, data: bytes, environ: Mapping[str, str], *, waits: bool) -> bytes:
    """Start a worker with this event; it outlives us, and records the event even if its answer is too late."""
    started = subprocess.Popen(
        [sys.executable, "-m", "recollectum.doors.hook.worker", str(home.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=home.root,
        env=dict(environ),
        start_new_session=os.name != "nt",
    )
    if started.stdin is None or started.stdout is None:
        return b""
    started.stdin.write(data)
    started.stdin.close()
    return started.stdout.read(_MAX_ANSWER) if waits else b""


def _seconds_left(by: float) -> float:
    return max(0.001, by - time.monotonic())
