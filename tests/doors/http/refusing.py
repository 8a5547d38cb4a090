"""A server on loopback that answers every request with one status and does nothing else."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress


@contextmanager
def refusing_server(status: bytes) -> Generator[int]:
    """The port of a server that refuses everything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_refuse, args=(listener, status))
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def _refuse(listener: socket.socket, status: bytes) -> None:
    body = b'{"title": "refused"}'
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.settimeout(10)
                while b"\r\n\r\n" not in connection.recv(1 << 16):
                    pass
                head = b"HTTP/1.1 " + status + b"\r\nContent-Type: application/problem+json\r\n"
                connection.sendall(head + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
