"""HTTP client for one endpoint: posts JSON, reads JSON or a stream, and maps every failure to a ModelError."""

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, cast

from recollectum.domain.errors import ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.domain.records import dataclass
from recollectum.models.http.endpoint import Endpoint, status_error

if TYPE_CHECKING:
    import socket
    from http.client import HTTPConnection, HTTPResponse

#: More than 2048 vectors of 3072 numbers, each of 20 characters.
MAX_ANSWER_BYTES = 128 * 1024 * 1024
_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRequest:
    """One request, and the deadline of its answer."""

    path: str
    body: bytes
    #: They may hold a key.
    headers: Mapping[str, str] = field(repr=False)
    ends: float
    clock: Callable[[], float] = time.monotonic
    max_answer_bytes: int = MAX_ANSWER_BYTES
    #: The section of the settings that names the endpoint, for errors.
    section: str = "embedding"

    def left(self) -> float:
        """Return the remaining seconds."""
        seconds = self.ends - self.clock()
        if seconds <= 0:
            raise TimeoutError
        return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointResponse:
    """The answer to one request."""

    status: int
    #: By lower-case name.
    headers: Mapping[str, str]
    body: bytes
    #: Whether the connection can be used again.
    reusable: bool


def exchange(connection: "HTTPConnection", request: EndpointRequest) -> EndpointResponse:
    """Send a request and read the answer; the caller closes the connection."""
    socket = send(connection, request)
    with connection.getresponse() as response:
        reusable = not response.will_close
        body = b"".join(read_pieces(response, socket, request))
        headers = header_names(response)
    return EndpointResponse(status=response.status, headers=headers, body=body, reusable=reusable)


def send(connection: "HTTPConnection", request: EndpointRequest) -> "socket.socket":
    """Send a request, and return the unread answer and its socket."""
    if connection.sock is None:
        connection.connect()
    socket = cast("socket.socket", connection.sock)
    socket.settimeout(request.left())
    connection.request("POST", request.path, body=request.body, headers=dict(request.headers))
    return socket


def header_names(response: "HTTPResponse") -> Mapping[str, str]:
    """Return the headers of an answer, by lower-case name."""
    return {name.lower(): value for name, value in response.getheaders()}


def read_pieces(response: "HTTPResponse", socket: "socket.socket", request: EndpointRequest) -> Iterator[bytes]:
    """Yield the body as it arrives, one read at a time, so that a slow answer times out."""
    from http.client import IncompleteRead  # noqa: PLC0415 - the caller that made the connection has imported it

    declared = None if response.chunked else response.length
    size = 0
    while size != declared:
        socket.settimeout(request.left())
        piece = response.read1(_PIECE_BYTES)
        if not piece:
            break
        size += len(piece)
        if size > request.max_answer_bytes:
            raise ModelRefused(f"the endpoint's answer is too large; check {request.section}.base_url")
        yield piece
    if declared is not None and size != declared:
        raise IncompleteRead(b"", declared - size)


#: Opens a connection to an endpoint; the number is the timeout in seconds.
Connect: TypeAlias = "Callable[[Endpoint, float], HTTPConnection]"


def connect(to: Endpoint, seconds: float) -> "HTTPConnection":
    """Return a TCP connection, with TLS and a checked certificate if the address says https."""
    # http.client follows no redirect and uses no proxy variable: texts go where the settings say, or nowhere.
    from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415 - brings ssl and email along

    if to.scheme == "https":
        return HTTPSConnection(to.host, to.port, timeout=seconds)
    if to.host == "localhost":
        from recollectum.models.http.loopback import LoopbackConnection  # noqa: PLC0415 - see above

        return LoopbackConnection(to.host, to.port, timeout=seconds)
    return HTTPConnection(to.host, to.port, timeout=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAccess:
    """The credentials of a request."""

    #: They may hold a key, and are never shown.
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    #: The variable that the key came from; empty if no key is sent.
    key_variable: str = ""


class JsonClient:
    """A client of one endpoint, which keeps connections open and reuses them."""

    def __init__(
        self,
        endpoint: Endpoint,
        access: RequestAccess,
        *,
        timeout_seconds: float,
        connect: Connect = connect,
        clock: Callable[[], float] = time.monotonic,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self.endpoint = endpoint
        self._access = access
        self._timeout = timeout_seconds
        self._connect = connect
        self._clock = clock
        self._max_answer_bytes = max_answer_bytes
        self._idle: list[HTTPConnection] = []
        self._lock = Lock()

    def post(self, path: str, body: object, headers: Mapping[str, str] = MappingProxyType({})) -> object:
        """Return the parsed answer to `body`, or raise a ModelError; the headers are for this request only."""
        answer = self._answer(self._request(path, body, headers))
        self._check(answer.status, answer.headers)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise ModelRefused(f"{self.endpoint.name} did not answer in JSON; check {self._address}") from error

    def stream(
        self, path: str, body: object, headers: Mapping[str, str] = MappingProxyType({})
    ) -> Generator[bytes, None, None]:
        """Yield the answer to `body` piece by piece; the timeout applies to each piece.

        The stream has its own connection: one that is not read to its end cannot be reused.
        """
        request = self._request(path, body, {**headers, "Accept": "text/event-stream"})
        unhurried = replace(request, ends=self._timeout, clock=lambda: 0.0)
        with self._explained():
            connection = self._connect(self.endpoint, request.left())
            try:
                socket = send(connection, request)
                with connection.getresponse() as response:
                    self._check(response.status, header_names(response))
                    yield from read_pieces(response, socket, unhurried)
            finally:
                connection.close()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _request(self, path: str, body: object, headers: Mapping[str, str]) -> EndpointRequest:
        return EndpointRequest(
            path=self.endpoint.path + path,
            body=json.dumps(body, separators=(",", ":")).encode(),
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json",
                **headers,
                **self._access.headers,
            },
            ends=self._clock() + self._timeout,
            clock=self._clock,
            max_answer_bytes=self._max_answer_bytes,
            section=self.endpoint.section,
        )

    @property
    def _address(self) -> str:
        return f"{self.endpoint.section}.base_url"

    def _check(self, status: int, headers: Mapping[str, str]) -> None:
        if not 200 <= status < 300:
            raise status_error(status, headers, self.endpoint.name, self._access.key_variable, self.endpoint.section)

    def _answer(self, request: EndpointRequest) -> EndpointResponse:
        with self._explained():
            return self._again(request) or self._use(self._connect(self.endpoint, request.left()), request)

    @contextmanager
    def _explained(self) -> Generator[None]:
        """Raise errors of the connection inside the block as ModelErrors."""
        from http.client import HTTPException  # noqa: PLC0415 - see connect
        from ssl import SSLCertVerificationError  # noqa: PLC0415 - see connect

        name = self.endpoint.name
        try:
            yield
        except SSLCertVerificationError as error:
            raise ModelRefused(f"{name} has no certificate that this machine trusts; check {self._address}") from error
        except TimeoutError as error:
            raise ModelTimeout(f"{name} did not answer within {self._timeout:g} s; try again later") from error
        except (OSError, HTTPException) as error:
            raise ModelUnavailable(f"{name} cannot be reached; check the network and {self._address}") from error

    def _again(self, request: EndpointRequest) -> EndpointResponse | None:
        """Return the answer over a kept connection; None if there is none that still works."""
        from http.client import HTTPException  # noqa: PLC0415 - see connect

        with self._lock:
            kept = self._idle.pop() if self._idle else None
        try:
            return self._use(kept, request) if kept else None
        except (ConnectionError, HTTPException):
            # Servers close idle connections, which says nothing about this request.
            return None

    def _use(self, connection: "HTTPConnection", request: EndpointRequest) -> EndpointResponse:
        reusable = False
        try:
            answer = exchange(connection, request)
            reusable = answer.reusable
            return answer
        finally:
            if not reusable:
                connection.close()
            else:
                with self._lock:
                    self._idle.append(connection)


#: Returns the headers with a key.
KeyHeaders = Callable[[str], Mapping[str, str]]


def provider_access(
    variable: str, environ: Mapping[str, str], headers: KeyHeaders, *, named: bool, section: str = "embedding"
) -> RequestAccess:
    """Return the credentials of a request; none for an empty variable. `named` means that the person named it."""
    if not variable:
        return RequestAccess()
    key = environ.get(variable, "").strip()
    if not key and named:
        # The name is not shown: a name that is no variable may be a key written in its place.
        raise ModelRefused(f"{section}.key_variable names a variable that is not set; set it, or correct the name")
    if not key:
        raise ModelRefused(f"the variable {variable} is not set; put the provider's key there")
    # http.client would show the value in its own error.
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelRefused(f"the variable {variable} holds something that is not an API key; correct it")
    return RequestAccess(headers=headers(key), key_variable=variable)
