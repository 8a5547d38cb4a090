"""Sends requests to one server with its key, and turns its refusals into our errors.

No proxy is used and no redirect is followed, so that the key goes to the server that it was given for and to no other.
"""

import http.client
import json
import socket
import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from typing import NamedTuple, cast
from urllib.parse import urlencode

from recollectum.domain.errors import (
    Busy,
    Conflict,
    Denied,
    HomeError,
    InvalidInput,
    NotFound,
    RecollectumError,
    Undecided,
)
from recollectum.home.credentials.connection import CA_VARIABLE, Connection

#: Seconds to connect, and between two pieces of an answer.
_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 120.0
#: A connection that was idle longer may be closed by the server at any moment, so a new one is opened.
_FRESH_SECONDS = 2.0
#: The longest answer that is read, and the longest line of an export; how much of one is read at once.
_MOST_BYTES = 64 * 2**20
_PIECE = 2**16
_SENTENCE = 500
_NO_SUCH_PATH = "there is no such path"
#: The same answer, however the server calls it.
_ERRORS: Mapping[int, type[RecollectumError]] = {
    400: InvalidInput,
    403: Denied,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    413: InvalidInput,
    415: InvalidInput,
    422: InvalidInput,
    429: Busy,
    503: Busy,
}


class ServerReply(NamedTuple):
    """The answer of the server."""

    status: int
    kind: str
    body: bytes
    etag: str = ""


class ServerLink:
    """A connection to the server, opened when the first request is sent and kept for the next ones."""

    def __init__(self, connection: Connection, *, seconds: float = _ANSWER_SECONDS) -> None:
        self.connection = connection
        self._seconds = seconds
        self._open: http.client.HTTPConnection | None = None
        self._used = 0.0

    def get(self, path: str, query: Mapping[str, object] | None = None) -> Mapping[str, object]:
        """Return the JSON object at a path."""
        return self.ask("GET", path, query)

    def get_tagged(self, path: str, query: Mapping[str, object]) -> tuple[Mapping[str, object], str]:
        """Return the JSON object at a path, and its ETag."""
        reply = self.exchange("GET", _with_query(path, query))
        return self._accepted(reply), reply.etag

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        **headers: str,
    ) -> Mapping[str, object]:
        """Return the JSON object that the server answers; raise its refusal as one of our errors."""
        return self._accepted(self.exchange(method, _with_query(path, query), body, **headers))

    def _accepted(self, reply: ServerReply) -> Mapping[str, object]:
        found = parsed(reply)
        if reply.status >= 300 or found is None:
            raise self.refusal(reply, found)
        return found

    def exchange(self, method: str, path: str, body: Mapping[str, object] | None = None, **headers: str) -> ServerReply:
        """Send one request, and return the answer whatever its status."""
        with self._sent(method, path, body, headers) as answer:
            data = answer.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                raise HomeError(f"{self.connection.url} sent more than {_MOST_BYTES // 2**20} MiB; ask for less")
            if answer.length:
                raise http.client.IncompleteRead(data, answer.length)
            return ServerReply(answer.status, answer.headers.get_content_type(), data, answer.headers.get("ETag", ""))

    def lines(self, path: str, query: Mapping[str, object] | None = None) -> Iterator[bytes]:
        """Yield the lines of an export as they arrive."""
        with self._sent("GET", _with_query(path, query), None, {}) as answer:
            if answer.status != http.client.OK:
                reply = ServerReply(answer.status, answer.headers.get_content_type(), answer.read(_MOST_BYTES))
                raise self.refusal(reply, parsed(reply))
            # Not by `readline`, which takes a connection that breaks for the end.
            rest = b""
            while piece := answer.read(_PIECE):
                *whole, rest = (rest + piece).split(b"\n")
                yield from (line + b"\n" for line in whole)
                if len(rest) > _MOST_BYTES:
                    raise HomeError(f"{self.connection.url} sent a line of more than {_MOST_BYTES // 2**20} MiB")
            if rest or answer.length:
                raise http.client.IncompleteRead(rest)

    def close(self) -> None:
        """Close the connection."""
        if self._open is not None:
            self._open.close()
            self._open = None

    @contextmanager
    def _sent(
        self, method: str, path: str, body: Mapping[str, object] | None, more: Mapping[str, str]
    ) -> Generator[http.client.HTTPResponse]:
        url = self.connection.url
        link = self._fresh()
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Authorization": f"Bearer {self.connection.key}", "Accept": "application/json", **more}
        if data is not None:
            headers["Content-Type"] = "application/json"
        done = False
        try:
            link.request(method, path, data, headers)
            with link.getresponse() as answer:
                if 300 <= answer.status < 400:
                    raise HomeError(
                        f"{url} answered with a redirect, which is not followed, so that the key goes nowhere else; "
                        "use the address that it leads to, if you trust that"
                    )
                yield answer
                # One that was not read to its end would be taken for the answer to the next request.
                done = answer.isclosed() and not answer.will_close
            self._used = time.monotonic()
        except (OSError, http.client.HTTPException) as error:
            raise self._lost(method, error) from error
        finally:
            if not done:
                self.close()

    def _fresh(self) -> http.client.HTTPConnection:
        if self._open is not None and time.monotonic() - self._used > _FRESH_SECONDS:
            self.close()
        if self._open is None:
            self._open = connect(self.connection, self._seconds)
        return self._open

    def _lost(self, method: str, error: Exception) -> RecollectumError:
        self.close()
        url = self.connection.url
        late = isinstance(error, TimeoutError)
        told = f"{url} did not answer within {self._seconds:g} s" if late else f"the connection to {url} was lost"
        if method == "GET":
            return HomeError(f"{told}; try again")
        return Undecided(f"{told}; whether the change was stored is not known, look before you try again")

    def refusal(self, reply: ServerReply, found: Mapping[str, object] | None) -> RecollectumError:
        """Return a refusal of the server as one of our errors."""
        url = self.connection.url
        if found is None or "status" not in found:
            return HomeError(f"{url} does not answer as Recollectum does (status {reply.status}); check the address")
        title, told = _text(found, "title"), _text(found, "detail")
        if reply.status == http.client.UNAUTHORIZED:
            return Denied(f"{url} does not know this key, or it was revoked; run: recollectum connect {url}")
        if reply.status == http.client.MISDIRECTED_REQUEST:
            name = self.connection.host
            return HomeError(
                f"{url} does not answer to the name {name}; let its operator run: recollectum settings set "
                f"server.hosts {name}, and start the daemon again"
            )
        if reply.status == http.client.NOT_FOUND and title == _NO_SUCH_PATH:
            return HomeError(f"{url} is an older Recollectum that cannot do this; upgrade the server")
        kind = _ERRORS.get(reply.status, HomeError)
        return kind(told or f"{url} refused: {title or reply.status}")


def connect(connection: Connection, seconds: float = _ANSWER_SECONDS) -> http.client.HTTPConnection:
    """Return an open connection to the server, whose certificate was checked; nothing is sent yet."""
    url, most = connection.url, min(seconds, _CONNECT_SECONDS)
    made: http.client.HTTPConnection
    if connection.is_tls:
        made = http.client.HTTPSConnection(connection.host, connection.port, timeout=most, context=_context(connection))
    else:
        made = http.client.HTTPConnection(connection.host, connection.port, timeout=most)
    try:
        made.connect()
    except ssl.SSLCertVerificationError as error:
        why = error.verify_message or "it cannot be verified"
        raise HomeError(
            f"the certificate of {url} is not accepted: {why}; for your own authority set {CA_VARIABLE} to its PEM file"
        ) from None
    except ssl.SSLError as error:
        raise HomeError(f"{url} does not speak HTTPS as expected ({error.reason}); check the address") from None
    except TimeoutError:
        raise HomeError(f"{url} does not answer; check the address, and that the server runs") from None
    except OSError as error:
        why = error.strerror or "it cannot be reached"
        raise HomeError(f"{url} cannot be reached ({why}); check the address, and that the server runs") from None
    sock = cast("socket.socket", made.sock)
    if not connection.is_tls and not ip_address(sock.getpeername()[0]).is_loopback:
        made.close()
        raise HomeError(f"{url} leads to another machine without encryption, so no key is sent there; use https")
    sock.settimeout(seconds)
    return made


def _context(connection: Connection) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=connection.ca_file)
    except (OSError, ssl.SSLError):
        raise InvalidInput(
            f"{connection.ca_file} is not a file of certificate authorities that can be read; name a PEM file with "
            f"{CA_VARIABLE} or connect --ca-file"
        ) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _with_query(path: str, query: Mapping[str, object] | None) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def parsed(reply: ServerReply) -> Mapping[str, object] | None:
    """Return the JSON object of an answer; None when it is something else."""
    if reply.kind not in ("application/json", "application/problem+json"):
        return None
    try:
        found: object = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else None


def _text(found: Mapping[str, object], name: str) -> str:
    value = found.get(name)
    return value[:_SENTENCE] if isinstance(value, str) else ""
