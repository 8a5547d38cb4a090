"""A proxy before a PostgreSQL server that counts round trips, and cuts a connection at a message of the protocol."""

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import quote

from tests.plugins.postgres import APPLICATION_LOGIN, PostgresDatabase

_FILE = ".s.PGSQL.5432"
Direction = Literal["there", "back"]
#: Chooses a message by its whole bytes: its letter, its length and its content.
IsMeant = Callable[[bytes], bool]


def commit(message: bytes) -> bool:
    """Whether a message is a COMMIT, alone or after other statements, or the server's answer to one."""
    return message[5:] in (b"COMMIT\0", b"\0COMMIT\0\0\0")


class CuttingProxy:
    """Passes everything on, until it is told to cut a connection."""

    def __init__(self, folder: Path, server: Path) -> None:
        #: How often a client sent a statement and waited for the answer.
        self.trips = 0
        #: How often it began or ended a transaction.
        self.frames = 0
        #: How many messages went each way.
        self.passed: dict[Direction, int] = {"there": 0, "back": 0}
        #: Every statement that a client sent.
        self.statements: set[str] = set()
        #: Whether the cut that was asked for has been made.
        self.has_cut = False
        #: Changes a message that the server sent.
        self.rewrite: Callable[[bytes], bytes] = bytes
        self._cut: tuple[Direction, IsMeant, bool] | None = None
        #: The connections whose client waits for an answer.
        self._waiting: set[socket.socket] = set()
        self._server = server
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _FILE))
        self._listener.listen()
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, direction: Direction, meant: IsMeant = commit, *, after: bool = False) -> None:
        """Cut the connection of the next such message, which is lost, or with `after` still passed on."""
        with self._lock:
            self._cut = (direction, meant, after)
            self.has_cut = False

    def cut_at(self, direction: Direction, number: int) -> None:
        """Cut before the message with this number, counted from now on."""
        last = self.passed[direction] + number
        self.cut(direction, lambda _: self.passed[direction] >= last)

    def stop_cutting(self) -> None:
        """Take back a cut that was not made."""
        with self._lock:
            self._cut = None

    def warn_and_close(self) -> None:
        """Send each client the warning of a server that restarts after a crash, and close."""
        fields = b"SWARNING\0VWARNING\0C57P02\0Mterminating connection\0\0"
        for client in self._sockets[1::2]:
            # Some have left.
            with suppress(OSError):
                client.sendall(b"N" + (4 + len(fields)).to_bytes(4, "big") + fields)
        self.close()

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
                try:
                    server.connect(str(self._server))
                except OSError:
                    client.close()
                    continue
                self._sockets += [client, server]
                for direction, pair in (("there", (client, server)), ("back", (server, client))):
                    threading.Thread(target=self._pass, args=(direction, *pair), daemon=True).start()

    def _pass(self, direction: Direction, source: socket.socket, target: socket.socket) -> None:
        # The first message of a client has no letter.
        held, bare = b"", direction == "there"
        with suppress(OSError):
            while data := source.recv(65536):
                if direction == "there":
                    self._count(source, data, bare=bare)
                else:
                    self._waiting.discard(target)
                held += data
                whole, cut = b"", False
                while not cut and (size := _size(held, bare=bare)):
                    message, held, bare = held[:size], held[size:], False
                    passes, cut = self._decide(direction, message)
                    sent = self.rewrite(message) if direction == "back" else message
                    whole += sent if passes else b""
                target.sendall(whole)
                if cut:
                    break
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _decide(self, direction: Direction, message: bytes) -> tuple[bool, bool]:
        """Whether a message is passed on, and whether the connection is cut then."""
        with self._lock:
            self.passed[direction] += 1
            if direction == "there":
                self._note(message)
            if self._cut is None or self._cut[0] != direction or not self._cut[1](message):
                return True, False
            after = self._cut[2]
            self._cut, self.has_cut = None, True
            return after, True

    def _note(self, message: bytes) -> None:
        """Keep the text of a statement: a query, or what follows the name in a message that prepares one."""
        if message[:1] == b"Q":
            self.statements.add(message[5:-1].decode())
        elif message[:1] == b"P":
            self.statements.add(message[5:].split(b"\0")[1].decode())

    def _count(self, client: socket.socket, data: bytes, *, bare: bool) -> None:
        if bare or client in self._waiting:
            return
        self._waiting.add(client)
        if data.startswith(b"Q") and data[5:].startswith((b"BEGIN", b"COMMIT", b"ROLLBACK")):
            self.frames += 1
        else:
            self.trips += 1


def _size(held: bytes, *, bare: bool) -> int:
    """How many bytes the first message has, or 0 while it is not whole."""
    letter = 0 if bare else 1
    if len(held) < letter + 4:
        return 0
    size = letter + int.from_bytes(held[letter : letter + 4], "big")
    return size if len(held) >= size else 0


@contextmanager
def proxied(database: PostgresDatabase) -> Generator[tuple[CuttingProxy, str]]:
    """A proxy before the server of a database, and the address of the database behind it."""
    # Short: the path of a socket has at most 107 bytes.
    with TemporaryDirectory(prefix="cut-") as folder:
        proxy = CuttingProxy(Path(folder), Path(database.parameters["host"]) / _FILE)
        try:
            yield proxy, f"postgresql:///{database.name}?user={APPLICATION_LOGIN}&host={quote(folder)}"
        finally:
            proxy.close()
