"""Checks Host, Origin, content type, body size and rate limits before any route (DNS rebinding and CSRF protection).

Web pages can reach local servers: by their address, by a name that is made to point to it, by a form, by an image. So
the Host must be ours, the Origin absent or the same, the browser must not name another site as the caller, and a body
must be JSON. The guard runs first and is not a middleware of the framework, because those cost a task and a queue for
each request.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollectum.doors.http.authentication import parse_bearer
from recollectum.doors.http.cross_origin import (
    HeaderList,
    allowed_origin,
    answer_headers,
    is_preflight,
    preflight_headers,
)
from recollectum.doors.http.problems import MEDIA_TYPE, ErrorPage, no_page, to_bytes
from recollectum.doors.http.rate_limit import RateLimiter
from recollectum.doors.http.server_state import RequestLimits

Headers = Mapping[bytes, bytes]
_JSON = b"application/json"
_FORM = b"application/x-www-form-urlencoded"
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_WEBSOCKET_CLOSED = 1008
#: Digits of a length; Python would refuse to parse more.
_LONGEST_LENGTH = 20
#: What a browser sends with a request that no page of another site made.
_OWN_SITE = frozenset({b"none", b"same-origin"})
#: Set on every answer that does not have its own.
_SECURITY: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
#: The name that was asked for is not in it: a page of an attacker must not tell the operator to allow its own name.
_HOST_CURE = (
    "This server does not answer to the name in the address. Use a name that it allows, or let the operator of the "
    "server run: recollectum settings set server.hosts NAME, and start the daemon again."
)


class RequestRefused(Exception):
    """Raised for a request that is refused, with the status and text of the answer."""

    def __init__(self, status: int, title: str, wait: float = 0.0, detail: str | None = None) -> None:
        super().__init__(title)
        self.status = status
        self.title = title
        self.wait = wait
        self.detail = detail


class Guard:
    """The outermost layer of the app."""

    def __init__(
        self,
        app: ASGIApp,
        limits: RequestLimits,
        clock: Callable[[], float],
        form_paths: Iterable[str] = (),
        is_known: Callable[[Scope], bool] = lambda _: False,
        error_page: ErrorPage = no_page,
    ) -> None:
        self._app = app
        self._error_page = error_page
        self._limits = limits
        #: Checks whether a request has a valid credential; called in a thread, and only when its address is over a
        #: limit.
        self._is_known = is_known
        #: Where forms may be posted to: a path, or everything below one that ends with a slash.
        self._form_paths = tuple(form_paths)
        self._keys = RateLimiter(limits.per_key, clock)
        self._addresses = RateLimiter(limits.per_address, clock)
        self._failures = RateLimiter(limits.failures, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": _WEBSOCKET_CLOSED})
            return
        address = _address(scope)
        headers = _headers(scope)
        origin = allowed_origin(scope, headers, self._limits.origins)
        guarded = self._with_headers(send, scope, address, answer_headers(origin) if origin else [])
        try:
            self._check(scope, headers, is_allowed=origin is not None)
            await self._check_rate(scope, address)
            if origin and is_preflight(scope, headers):
                await send({"type": "http.response.start", "status": 204, "headers": preflight_headers(origin)})
                await send({"type": "http.response.body", "body": b""})
                return
            whole = await self._bounded(scope, receive)
        except RequestRefused as refused:
            page = self._error_page(scope, refused.status, refused.wait)
            await _answer(guarded, refused, page)
            return
        await self._app(scope, whole, guarded)

    def _check(self, scope: Scope, headers: Headers, *, is_allowed: bool) -> None:
        """Raise for a request that must not be passed on; `is_allowed` if its origin is one of the settings."""
        host = headers.get(b"host", b"").decode("latin-1").casefold()
        if host not in self._limits.hosts:
            raise RequestRefused(421, "host name not allowed; add it to server.hosts", detail=_HOST_CURE)
        origin = None if is_allowed else headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").casefold() not in (f"http://{host}", f"https://{host}"):
            raise RequestRefused(403, "cross-site requests are not allowed")
        is_own = headers.get(b"sec-fetch-site", b"none") in _OWN_SITE or is_allowed
        if not is_own and not _opens_page(scope, headers):
            raise RequestRefused(403, "cross-site requests are not allowed")
        if sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
            raise RequestRefused(400, "there are two Authorization headers; send one")
        self._check_type(scope, headers)

    def _check_type(self, scope: Scope, headers: Headers) -> None:
        """Require a content type that no page of another site can send without a preflight."""
        kind = headers.get(b"content-type")
        if scope["method"] not in _WITH_BODY or (kind is None and not _has_body(headers)):
            return
        bare = (kind or b"").partition(b";")[0].strip().lower()
        if bare == _JSON or (bare == _FORM and self._takes_forms(scope["path"])):
            return
        raise RequestRefused(415, "a body must be application/json")

    def _posts_form(self, scope: Scope) -> bool:
        kind = _headers(scope).get(b"content-type", b"").partition(b";")[0].strip().lower()
        return scope["method"] == "POST" and kind == _FORM and self._takes_forms(scope["path"])

    def _takes_forms(self, path: str) -> bool:
        return any(path.startswith(one) if one.endswith("/") else path == one for one in self._form_paths)

    async def _check_rate(self, scope: Scope, address: str) -> None:
        """Count a request for its address and its key.

        Everybody behind an address shares it; on one machine these are all accounts and web pages. So a valid
        credential passes whatever others at the address did, and has a separate limit.
        """
        credential = _credential(scope)
        wait = self._addresses.take(address)
        if credential:
            wait = wait or self._failures.wait(address)
        if wait and await run_in_threadpool(self._is_known, scope):
            wait = 0.0
        if credential and not wait:
            wait = self._keys.take(_spelling(credential))
        if wait:
            raise RequestRefused(429, "too many requests", wait)

    async def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """Return the body if it is not too long; a body of unknown length is read up to the limit."""
        headers = _headers(scope)
        most = self._limits.max_body
        length = headers.get(b"content-length")
        if length is not None:
            if not length.isdigit() or len(length) > _LONGEST_LENGTH or int(length) > most:
                raise RequestRefused(413, "the body is too long")
            return receive
        if b"transfer-encoding" not in headers:
            return receive
        return _replay_body(await _read(receive, most), receive)

    def _with_headers(self, send: Send, scope: Scope, address: str, further: HeaderList) -> Send:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Without a credential nothing was guessed: otherwise any page or account could use up the limit of
                # everybody here.
                if message["status"] == 401 and (_credential(scope) or self._posts_form(scope)):
                    wait = self._failures.take(address)
                    if wait and self._posts_form(scope):
                        # Its key is in the body, so it was known to be wrong only now; a right one was let in.
                        message["status"] = 429
                        message["headers"] = [*message.get("headers", ()), (b"retry-after", b"%d" % math.ceil(wait))]
                _add_missing(message, further)
            await send(message)

        return guarded


def _headers(scope: Scope) -> Headers:
    """Return the headers by name; a name that occurs twice gets no valid value."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        found[name] = value if name not in found else found[name] + b"," + value
    return found


def _opens_page(scope: Scope, headers: Headers) -> bool:
    """Return whether a person follows a link from another site; the console's cookie is not sent with it."""
    return (
        scope["method"] == "GET"
        and headers.get(b"sec-fetch-mode") == b"navigate"
        and headers.get(b"sec-fetch-dest") == b"document"
    )


def _credential(scope: Scope) -> bytes:
    """Return the Authorization header; empty when there is none."""
    return next((value.strip() for name, value in scope["headers"] if name == b"authorization"), b"")


def _spelling(credential: bytes) -> bytes:
    """Return the digest by which a key is counted: of the secret alone, however the header is written."""
    said = credential.decode("latin-1")
    secret = parse_bearer(said) or said
    return hashlib.blake2b(secret.encode(), digest_size=16).digest()


def _has_body(headers: Headers) -> bool:
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


async def _read(receive: Receive, most: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > most:
            raise RequestRefused(413, "the body is too long")
        if message["type"] != "http.request" or not message.get("more_body"):
            return bytes(body)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    handed = False

    async def replay() -> Message:
        nonlocal handed
        if handed:
            return await receive()
        handed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _add_missing(message: MutableMapping[str, Any], further: HeaderList) -> None:
    headers = list(message.get("headers", ()))
    there = {name.lower() for name, _ in headers}
    message["headers"] = [*headers, *further, *(one for one in _SECURITY if one[0] not in there)]


async def _answer(send: Send, refused: RequestRefused, page: Response | None) -> None:
    body = to_bytes(refused.status, refused.title, refused.detail) if page is None else bytes(page.body)
    told = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    headers = told if page is None else list(page.raw_headers)
    if refused.wait:
        headers.append((b"retry-after", str(math.ceil(refused.wait)).encode()))
    if refused.status == 413:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
