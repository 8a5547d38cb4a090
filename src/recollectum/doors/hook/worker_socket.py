"""Locates the worker's Unix socket in a home, and reads whole messages from it."""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from recollectum.home.paths import Home

SOCKET = "hook.sock"
#: What is sent in place of an event to end the worker.
STOP = b'{"stop": true}'


def run_folder(home: Home) -> Path:
    """Return the folder for files of running processes."""
    return home.root / "run"


def has_unix_sockets() -> bool:
    """Return whether this system has Unix sockets."""
    return hasattr(socket, "AF_UNIX")


@contextmanager
def working_folder(folder: Path) -> Generator[None]:
    """Change to a folder for a moment: the name of a socket must be shorter than a path."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(before)
        os.close(before)


def read_all(connection: socket.socket, most: int) -> bytes:
    """Return everything until the other side stops sending."""
    pieces: list[bytes] = []
    size = 0
    while size <= most and (piece := connection.recv(1 << 16)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
