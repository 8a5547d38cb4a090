"""A proxy before a PostgreSQL server that counts round trips, and cuts a connection in the middle of a COMMIT."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from tests.plugins.postgres import APPLICATION_LOGIN, PostgresDatabase

_FILE = ".s.PGSQL.5432"


class CuttingProxy:
    """Passes everything on, until it is told to cut: then the next COMMIT is lost on its way there or back."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.cuts: str = ""
        #: How often a client sent a statement and waited for the answer.
        self.trips = 0
        #: How often it began or ended a transaction.
        self.frames = 0
        #: The connections whose client waits for an answer.
        self._waiting: set[socket.socket] = set()
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _FILE))
        self._listener.listen()
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server))
                self._sockets += [client, server]
                threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
                threading.Thread(target=self._backward, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if b"COMMIT\0" in data and self.cuts == "there":
                    self._cut(client, server)
                    return
                self._count(client, data)
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _backward(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if b"COMMIT\0" in data and self.cuts == "back":
                    self._cut(client, server)
                    return
                self._waiting.discard(client)
                client.sendall(data)
            client.shutdown(socket.SHUT_WR)

    def _count(self, client: socket.socket, data: bytes) -> None:
        if client in self._waiting:
            return
        self._waiting.add(client)
        if data.startswith(b"Q") and data[5:].startswith((b"BEGIN", b"COMMIT", b"ROLLBACK")):
            self.frames += 1
        else:
            self.trips += 1

    def _cut(self, *sockets: socket.socket) -> None:
        self.cuts = ""
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(database: PostgresDatabase) -> Generator[tuple[CuttingProxy, str]]:
    """A proxy before the server of a database, and the address of the database behind it."""
    # Short: the path of a socket has at most 107 bytes.
    with TemporaryDirectory(prefix="cut-") as folder:
        proxy = CuttingProxy(Path(folder), Path(database.server.parameters["host"]) / _FILE)
        try:
            yield proxy, f"postgresql:///{database.name}?user={APPLICATION_LOGIN}&host={quote(folder)}"
        finally:
            proxy.close()
