"""Refuses every network socket in this interpreter, from its import on, and writes down who asked.

Where a test is marked `loopback`, this machine may talk to itself and to nobody else.
"""

import os
import sys
import traceback
from pathlib import Path

#: Names the file to which refusals are appended.
RECORD = "SOCKET_GUARD_RECORD"
#: Set while a test may reach this machine's own addresses.
LOOPBACK = "SOCKET_GUARD_LOOPBACK"
#: Where pytest says which test runs; a program that the test starts inherits it.
TEST = "PYTEST_CURRENT_TEST"

_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"})
_USES = frozenset({"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"})

#: urllib3, which agent frameworks bring, looks for IPv6 when it is imported: it binds ::1, and goes on when refused.
_PROBE = "_has_ipv6"


class SocketRefused(RuntimeError):
    """A test, or a program it started, tried to use the network."""


def _refused(event: str, args: tuple[object, ...]) -> bool:
    """Whether the event reaches for anything but a socket of this machine's own file system."""
    if os.environ.get(LOOPBACK) == "1":
        return _reaches_out(event, args)
    if event in _LOOKUPS:
        return True
    if event == "socket.__new__":
        # -1 wraps a descriptor that exists already; what is then done with it is looked at below.
        return args[1] not in (_unix(), -1)
    if event in _USES:
        return getattr(args[0], "family", None) != _unix()
    return False


def _reaches_out(event: str, args: tuple[object, ...]) -> bool:
    """Whether the event names an address that is not this machine's own."""
    if event == "socket.getnameinfo":
        return False
    if event in _LOOKUPS:
        return not _is_ours(args[0])
    if event in _USES and getattr(args[0], "family", None) != _unix():
        address = args[1]
        # No cast: to import `typing` would charge its cost to every program under test.
        host: object = address[0] if isinstance(address, tuple) and address else None  # pyright: ignore
        return not _is_ours(host)  # pyright: ignore[reportUnknownArgumentType]
    return False


def _is_ours(host: object) -> bool:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    # To bind to every address of this machine is not to reach out of it.
    if name is None or name in ("", "localhost", "0.0.0.0", "::", "::1"):
        return True
    return isinstance(name, str) and name.startswith("127.")


def _wanted(event: str, args: tuple[object, ...]) -> object:
    """The host or address that was asked for; for a new socket, its family."""
    return args[0] if event in _LOOKUPS else args[1]


def _unix() -> object:
    # Importing socket here would charge its cost to every program under test.
    return getattr(sys.modules.get("_socket"), "AF_UNIX", None)


def _caller() -> "traceback.FrameSummary | None":
    """The call that asked, without the guard and the standard library's own socket module."""
    frames = [
        frame
        for frame in traceback.extract_stack()
        if Path(frame.filename) != Path(__file__) and Path(frame.filename).name != "socket.py"
    ]
    return frames[-1] if frames else None


def _guard(event: str, args: tuple[object, ...]) -> None:
    if not event.startswith("socket.") or not _refused(event, args):
        return
    caller = _caller()
    line = f"{event} at {f'{caller.filename}:{caller.lineno}' if caller else 'an interpreter without frames'}"
    line = f"{line}, for {_wanted(event, args)!r}, during {os.environ.get(TEST, 'no test')}"
    if (record := os.environ.get(RECORD)) and not (caller and caller.name == _PROBE):
        # Raising is not enough: the program may catch it.
        descriptor = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{line}\n".encode())
        os.close(descriptor)
    raise SocketRefused(f"{line}: no network socket may be opened in a test run")


sys.addaudithook(_guard)
