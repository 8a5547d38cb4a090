"""Posts JSON to one endpoint and reads JSON back; whatever goes wrong becomes one of our errors."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from recollect.domain.errors import ModelRefused, ModelTimeout, ModelUnavailable
from recollect.models.endpoint import Endpoint
from recollect.models.exchange import MAX_ANSWER_BYTES, Answer, Request, exchange
from recollect.models.statuses import problem

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

    def post(self, path: str, body: object) -> object:
        """The parsed answer to `body`, or a ModelError."""
        name = self.endpoint.name
        answer = self._answer(self._request(path, body))
        if not 200 <= answer.status < 300:
            raise problem(answer.status, answer.headers, name, self._access.key_variable)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise ModelRefused(f"{name} did not answer in JSON; check embedding.base_url") from error

    def close(self) -> None:
        """Close the connections that are not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _request(self, path: str, body: object) -> Request:
        return Request(
            path=self.endpoint.path + path,
            body=json.dumps(body, separators=(",", ":")).encode(),
            headers={"Content-Type": "application/json", "Accept": "application/json", **self._access.headers},
            ends=self._clock() + self._timeout,
            clock=self._clock,
            max_answer_bytes=self._max_answer_bytes,
        )

    def _answer(self, request: Request) -> Answer:
        from http.client import HTTPException  # noqa: PLC0415 - see connect
        from ssl import SSLCertVerificationError  # noqa: PLC0415 - see connect

        name = self.endpoint.name
        try:
            return self._again(request) or self._use(self._connect(self.endpoint, request.left()), request)
        except SSLCertVerificationError as error:
            raise ModelRefused(f"{name} shows no certificate that is trusted here; check embedding.base_url") from error
        except TimeoutError as error:
            raise ModelTimeout(f"{name} did not answer within {self._timeout:g} s; try again later") from error
        except (OSError, HTTPException) as error:
            raise ModelUnavailable(f"{name} cannot be reached; check the network and embedding.base_url") from error

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
