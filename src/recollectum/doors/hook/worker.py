"""Runs the hook worker: a process that the first event starts, and that keeps the home open for the next ones.

It answers over a socket in the home that only this account can reach, uses keyword search only, and exits when it has
been idle for a while. It listens before it imports anything, so that an early event waits a little and is not lost.
When another worker is running already, it passes the event on to that one.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.errors import RecollectumError
from recollectum.domain.ids import system_clock
from recollectum.doors.hook.client import MAX_EVENT
from recollectum.doors.hook.log import log_error
from recollectum.doors.hook.worker_socket import SOCKET, STOP, has_unix_sockets, read_all, run_folder, working_folder
from recollectum.home.core_dumps import forbid_core_dumps
from recollectum.home.files import make_private_folder
from recollectum.home.locks import Lock
from recollectum.home.paths import Home

if TYPE_CHECKING:
    from recollectum.doors.hook.responder import HookResponder

#: How long it stays when idle, and at most: the program may have been replaced meanwhile.
IDLE = timedelta(minutes=5)
LONGEST = timedelta(hours=2)
#: How long a caller may take to send its request: a hung one must not block the others.
_PATIENCE = 2.0


def main(root: str) -> int:
    """Serve the first event, which is on stdin, and then those that come."""
    home = Home(Path(root))
    first = sys.stdin.buffer.read(MAX_EVENT)
    lock = Lock(home.locks / "hook.lock")
    listener = None
    if has_unix_sockets() and "RECOLLECTUM_API_KEY" not in os.environ:
        if not lock.wait(timedelta()):
            return _forward(home, first)
        listener = _listen(home)
    try:
        _serve(home, first, listener)
    finally:
        if listener is not None:
            listener.close()
            with suppress(OSError):
                (run_folder(home) / SOCKET).unlink()
        lock.release()
    return 0


def _serve(home: Home, first: bytes, listener: socket.socket | None) -> None:
    # Imported here: the engine is slow to import, and callers should find us listening.
    from recollectum.doors.hook.responder import make_responder, open_hook_home  # noqa: PLC0415

    def trouble(where: str, error: BaseException) -> None:
        log_error(home, where, error, system_clock())

    try:
        with open_hook_home(home.root, os.environ) as recollectum:
            answering = make_responder(recollectum)
            _reply_to_starter(_reply(answering, first, trouble))
            if listener is not None:
                _accept_events(listener, answering, trouble)
            answering.close()
    except RecollectumError as error:
        trouble("open", error)


def _listen(home: Home) -> socket.socket:
    folder = run_folder(home)
    make_private_folder(folder)
    listener = socket.socket(socket.AF_UNIX)
    with working_folder(folder):
        # Left by a killed worker: the lock says that nobody uses it.
        Path(SOCKET).unlink(missing_ok=True)
        listener.bind(SOCKET)
    listener.listen(16)
    return listener


def _accept_events(
    listener: socket.socket, attending: "HookResponder", trouble: Callable[[str, BaseException], None]
) -> None:
    end = time.monotonic() + LONGEST.total_seconds()
    listener.settimeout(IDLE.total_seconds())
    while time.monotonic() < end:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
        with connection:
            connection.settimeout(_PATIENCE)
            try:
                data = read_all(connection, MAX_EVENT)
                if data == STOP:
                    return
                connection.sendall(_reply(attending, data, trouble))
            except OSError:
                # It did not wait. Its event is being recorded.
                continue


def _reply(attending: "HookResponder", data: bytes, trouble: Callable[[str, BaseException], None]) -> bytes:
    from recollectum.doors.hook.responder import HookRequest  # noqa: PLC0415 - imported only when needed

    if not data:
        # A caller whose time was up before it could send anything.
        return b"{}"
    try:
        return json.dumps(attending.answer(HookRequest.decode(data))).encode()
    except RecollectumError as error:
        trouble("answer", error)
    except Exception as error:  # noqa: BLE001 - one event that cannot be served must not end it for all
        trouble("answer", error)
    return b"{}"


def _reply_to_starter(reply: bytes) -> None:
    """Send the answer to the process that started us, which then stops waiting."""
    try:
        sys.stdout.buffer.write(reply)
        sys.stdout.buffer.flush()
    except OSError:
        pass
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def _forward(home: Home, data: bytes) -> int:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        with working_folder(run_folder(home)):
            connection.connect(SOCKET)
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        _reply_to_starter(read_all(connection, MAX_EVENT))
    return 0


if __name__ == "__main__":
    forbid_core_dumps(os.environ)
    sys.exit(main(sys.argv[1]))
