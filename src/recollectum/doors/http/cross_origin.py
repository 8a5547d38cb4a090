"""Decides which pages of other sites may call the API from a browser (CORS), and says so in headers.

Only the API is open to them, and only with a key: no cookie is accepted from another site, so a page cannot use the
console of the person who looks at it.
"""

from collections.abc import Collection, Mapping

from starlette.types import Scope

#: Where a page of an allowed origin may send requests.
_API = ("/v1/", "/memory/")
_METHODS = b"GET, POST, PUT, PATCH, DELETE"
_SENT = b"authorization, content-type, idempotency-key, if-match"
_READ = b"etag, retry-after"
#: Seconds for which a browser need not ask again.
_LASTS = b"600"
HeaderList = list[tuple[bytes, bytes]]


def allowed_origin(scope: Scope, headers: Mapping[bytes, bytes], origins: Collection[str]) -> bytes | None:
    """Return the origin of a request if it is one of the allowed, asks for the API and brings no cookie."""
    origin = headers.get(b"origin", b"")
    if not origins or origin.decode("latin-1") not in origins or b"cookie" in headers:
        return None
    path = str(scope["path"])
    return origin if path.startswith(_API) or path == "/memory" else None


def is_preflight(scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a browser asks if it may send a request."""
    return scope["method"] == "OPTIONS" and b"access-control-request-method" in headers


def preflight_headers(origin: bytes) -> HeaderList:
    """Return the headers that allow the request."""
    return [
        *answer_headers(origin),
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _SENT),
        (b"access-control-max-age", _LASTS),
        (b"content-length", b"0"),
    ]


def answer_headers(origin: bytes) -> HeaderList:
    """Return the headers that let the page read an answer."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _READ),
        (b"vary", b"origin"),
    ]
