"""Posts JSON to one endpoint and reads JSON back; whatever goes wrong becomes one of our errors."""

import json
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from recollectum.domain.errors import ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.models.endpoint import Endpoint
from recollectum.models.exchange import MAX_ANSWER_BYTES, Answer, Request, exchange, header_names, pieces, send
from recollectum.models.statuses import problem

if TYPE_CHECKING:
    from http.client import HTTPConnection

#: Makes a connection to an endpoint; the number is the seconds that opening it may take.
Connect: TypeAlias = "Callable[[Endpoint, float], HTTPConnection]"


def connect(to: Endpoint, seconds: float) -> "HTTPConnection":
    """A connection over TCP, with TLS whose certificate is checked where the address says https."""
    # http.client follows no redirect and obeys no proxy variable: texts go where the settings say, or nowhere.
    from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415 - brings ssl and email along

    if to.scheme == "https":
        return HTTPSConnection(to.host, to.port, timeout=seconds)
    if to.host == "localhost":
        from recollectum.models.loopback import LoopbackConnection  # noqa: PLC0415 - see above

        return LoopbackConnection(to.host, to.port, timeout=seconds)
    return HTTPConnection(to.host, to.port, timeout=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a request carries to be let in."""

    #: They may hold a key, and are never shown.
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    #: The variable the key came from; empty where none is sent.
    key_variable: str = ""


class Wire:
    """One endpoint; connections to it are kept open and used again."""

    def __init__(
        self,
        endpoint: Endpoint,
        access: Access,
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
        """The parsed answer to `body`, or a ModelError; the headers are for this one request."""
        answer = self._answer(self._request(path, body, headers))
        self._check(answer.status, answer.headers)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise ModelRefused(f"{self.endpoint.name} did not answer in JSON; check {self._address}") from error

    def stream(
        self, path: str, body: object, headers: Mapping[str, str] = MappingProxyType({})
    ) -> Generator[bytes, None, None]:
        """The answer to `body` piece by piece, each of which may take as long as a whole answer otherwise.

        The connection is the stream's own: one that is not read to its end cannot be used again.
        """
        request = self._request(path, body, {**headers, "Accept": "text/event-stream"})
        unhurried = replace(request, ends=self._timeout, clock=lambda: 0.0)
        with self._explained():
            connection = self._connect(self.endpoint, request.left())
            try:
                socket = send(connection, request)
                with connection.getresponse() as response:
                    self._check(response.status, header_names(response))
                    yield from pieces(response, socket, unhurried)
            finally:
                connection.close()

    def close(self) -> None:
        """Close the connections that are not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _request(self, path: str, body: object, headers: Mapping[str, str]) -> Request:
        return Request(
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
            raise problem(status, headers, self.endpoint.name, self._access.key_variable, self.endpoint.section)

    def _answer(self, request: Request) -> Answer:
        with self._explained():
            return self._again(request) or self._use(self._connect(self.endpoint, request.left()), request)

    @contextmanager
    def _explained(self) -> Generator[None]:
        """Whatever goes wrong with the connection inside the block becomes one of our errors."""
        from http.client import HTTPException  # noqa: PLC0415 - see connect
        from ssl import SSLCertVerificationError  # noqa: PLC0415 - see connect

        name = self.endpoint.name
        try:
            yield
        except SSLCertVerificationError as error:
            raise ModelRefused(f"{name} shows no certificate that is trusted here; check {self._address}") from error
        except TimeoutError as error:
            raise ModelTimeout(f"{name} did not answer within {self._timeout:g} s; try again later") from error
        except (OSError, HTTPException) as error:
            raise ModelUnavailable(f"{name} cannot be reached; check the network and {self._address}") from error

    def _again(self, request: Request) -> Answer | None:
        """The answer over a connection that was kept; None where there is none that still works."""
        from http.client import HTTPException  # noqa: PLC0415 - see connect

        with self._lock:
            kept = self._idle.pop() if self._idle else None
        try:
            return self._use(kept, request) if kept else None
        except (ConnectionError, HTTPException):
            # Servers close what has been idle for long, which says nothing about this request.
            return None

    def _use(self, connection: "HTTPConnection", request: Request) -> Answer:
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
