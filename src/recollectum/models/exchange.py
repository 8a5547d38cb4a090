"""One request and its answer on one connection, with a limit on the whole time and on the size."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from recollectum.domain.errors import ModelRefused

if TYPE_CHECKING:
    import socket
    from http.client import HTTPConnection, HTTPResponse

#: More than 2048 vectors of 3072 numbers, each of 20 characters.
MAX_ANSWER_BYTES = 128 * 1024 * 1024
_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is posted, and by when the answer must be here."""

    path: str
    body: bytes
    #: They may hold a key.
    headers: Mapping[str, str] = field(repr=False)
    ends: float
    clock: Callable[[], float] = time.monotonic
    max_answer_bytes: int = MAX_ANSWER_BYTES
    #: The section of the settings that names the endpoint, for an error.
    section: str = "embedding"

    def left(self) -> float:
        """The seconds that are left."""
        seconds = self.ends - self.clock()
        if seconds <= 0:
            raise TimeoutError
        return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    #: By lower-case name.
    headers: Mapping[str, str]
    body: bytes
    #: Whether the connection can be used again.
    reusable: bool


def exchange(connection: "HTTPConnection", request: Request) -> Answer:
    """Post and read; the connection is the caller's to close."""
    socket = send(connection, request)
    with connection.getresponse() as response:
        reusable = not response.will_close
        body = b"".join(pieces(response, socket, request))
        headers = header_names(response)
    return Answer(status=response.status, headers=headers, body=body, reusable=reusable)


def send(connection: "HTTPConnection", request: Request) -> "socket.socket":
    """Post, and leave the answer to be read; the socket is the one it comes by."""
    if connection.sock is None:
        connection.connect()
    socket = cast("socket.socket", connection.sock)
    socket.settimeout(request.left())
    connection.request("POST", request.path, body=request.body, headers=dict(request.headers))
    return socket


def header_names(response: "HTTPResponse") -> Mapping[str, str]:
    """The headers of an answer, by lower-case name."""
    return {name.lower(): value for name, value in response.getheaders()}


def pieces(response: "HTTPResponse", socket: "socket.socket", request: Request) -> Iterator[bytes]:
    """The body as it comes in. One read at a time, so that an answer that drips in is late and not endless."""
    from http.client import IncompleteRead  # noqa: PLC0415 - whoever made the connection has it already

    declared = None if response.chunked else response.length
    size = 0
    while size != declared:
        socket.settimeout(request.left())
        piece = response.read1(_PIECE_BYTES)
        if not piece:
            break
        size += len(piece)
        if size > request.max_answer_bytes:
            raise ModelRefused(f"the endpoint sent more than any answer can be; check {request.section}.base_url")
        yield piece
    if declared is not None and size != declared:
        raise IncompleteRead(b"", declared - size)
