"""Refuses every network socket in this interpreter, from its import on, and writes down who asked."""

import os
import sys
import traceback
from pathlib import Path

#: Names the file to which refusals are appended.
RECORD = "SOCKET_GUARD_RECORD"

_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"})
_USES = frozenset({"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"})


class SocketRefused(RuntimeError):
    """A test, or a program it started, tried to use the network."""


def _refused(event: str, args: tuple[object, ...]) -> bool:
    """Whether the event reaches for anything but a socket of this machine's own file system."""
    if event in _LOOKUPS:
        return True
    if event == "socket.__new__":
        # -1 wraps a descriptor that exists already; what is then done with it is looked at below.
        return args[1] not in (_unix(), -1)
    if event in _USES:
        return getattr(args[0], "family", None) != _unix()
    return False


def _unix() -> object:
    # Importing socket here would charge its cost to every program under test.
    return getattr(sys.modules.get("_socket"), "AF_UNIX", None)


def _place() -> str:
    """The call that asked, without the guard and the standard library's own socket module."""
    frames = [
        frame
        for frame in traceback.extract_stack()
        if Path(frame.filename) != Path(__file__) and Path(frame.filename).name != "socket.py"
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an interpreter without frames"


def _guard(event: str, args: tuple[object, ...]) -> None:
    if not event.startswith("socket.") or not _refused(event, args):
        return
    line = f"{event} at {_place()}"
    if record := os.environ.get(RECORD):
        # Raising is not enough: the program may catch it.
        descriptor = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{line}\n".encode())
        os.close(descriptor)
    raise SocketRefused(f"{line}: no network socket may be opened in a test run")


sys.addaudithook(_guard)
