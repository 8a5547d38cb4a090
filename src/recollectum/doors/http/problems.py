"""Answers every error as RFC 9457 problem+json, without repeating what was sent."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from recollectum.domain.errors import (
    BudgetSpent,
    Busy,
    Conflict,
    Denied,
    DiskFull,
    HomeError,
    InvalidInput,
    KeyProblem,
    LockHeld,
    ModelError,
    ModelUnavailable,
    NotFound,
    ReadOnly,
    RecollectumError,
    SchemaNewer,
    StepRefused,
    StorageError,
    Undecided,
    Unreachable,
)
from recollectum.doors.http.authentication import Unauthenticated

MEDIA_TYPE = "application/problem+json"
#: Makes the page of a refused or failed request from its scope, its status and the seconds to wait; None for a program.
ErrorPage = Callable[[Scope, int, float], Response | None]


class PreconditionFailed(Conflict):
    """Raised when the target of a change is no longer as it was read."""


RETRY_SECONDS = 1
_REALM = 'Bearer realm="recollectum"'

#: The first matching class gives the status and the title.
_STATUS: Sequence[tuple[type[RecollectumError], int, str]] = (
    (InvalidInput, 422, "invalid value"),
    (NotFound, 404, "not found for this caller"),
    (Denied, 403, "not allowed for this caller"),
    (PreconditionFailed, 412, "changed since it was read"),
    (Conflict, 409, "changed since it was read, or the name is taken"),
    (StepRefused, 409, "this state does not allow the step"),
    (Busy, 503, "the database was busy for too long"),
    (Unreachable, 503, "the database cannot be reached; nothing was written"),
    (Undecided, 500, "whether the change was stored is not known; look before you try again"),
    (LockHeld, 503, "another process holds the lock"),
    (DiskFull, 507, "the disk is full; nothing was written"),
    (ReadOnly, 507, "the disk is read-only"),
    (BudgetSpent, 429, "a daily limit of the model is reached"),
    (ModelUnavailable, 503, "a model cannot be reached"),
    (ModelError, 502, "a model failed"),
    (KeyProblem, 500, "the key of the home is not available"),
    (SchemaNewer, 503, "this server is too old for the database; upgrade it"),
    (StorageError, 500, "the database reported an error"),
    (HomeError, 500, "the home cannot be used"),
)
#: Only these include details: the others name files and hosts, which clients must not see.
_TOLD = (InvalidInput, NotFound, Denied, Conflict, StepRefused)
#: A value in a message, as `repr` writes it; an apostrophe inside a word is not one.
_VALUE = re.compile(r"""(?<!\w)(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")""")
#: How many mistakes of one request are named.
_MOST_ERRORS = 20
#: A message of ours is a sentence; of a longer one the rest is a value.
_LONGEST = 2_000
#: What an answer tells programs also when it is a page.
_KEPT_HEADERS = frozenset({"allow", "retry-after", "www-authenticate"})
_HTTP_TITLES: Mapping[int, str] = {404: "there is no such path", 405: "method not allowed for this path"}


def problem(
    status: int,
    title: str,
    detail: str | None = None,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return one problem document as a response."""
    return Response(
        to_bytes(status, title, detail, errors), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {})
    )


def to_bytes(status: int, title: str, detail: str | None = None, errors: Sequence[Mapping[str, str]] = ()) -> bytes:
    """Return the document as bytes, for answers before the framework runs."""
    document: dict[str, object] = {"type": "about:blank", "status": status, "title": title}
    if detail:
        document["detail"] = detail
    if errors:
        document["errors"] = list(errors)
    return json.dumps(document, ensure_ascii=False).encode()


def problem_of(error: RecollectumError) -> Response:
    """Return the problem for one of our errors."""
    for kind, status, title in _STATUS:
        if isinstance(error, kind):
            detail = without_values(str(error)) if isinstance(error, _TOLD) else None
            headers = {"Retry-After": str(RETRY_SECONDS)} if status in (429, 503) else None
            return problem(status, title, detail, headers=headers)
    return problem(500, "internal error")


def without_values(message: str) -> str:
    """Return one of our messages without the values that it names."""
    return _VALUE.sub("…", message) if len(message) <= _LONGEST else ""


def no_page(_scope: Scope, _status: int, _wait: float = 0.0) -> None:
    """Make no page: every caller is a program."""


def add_problems(app: FastAPI, error_page: ErrorPage = no_page) -> None:
    """Answer every error of the app as a problem, or as a page where `error_page` makes one."""

    async def answer(request: Request, error: Exception) -> Response:
        told = _problem_for(request, error)
        page = error_page(request.scope, told.status_code, 0.0)
        if page is None:
            return told
        for name in _KEPT_HEADERS & set(told.headers):
            page.headers[name] = told.headers[name]
        return page

    for kind in (RecollectumError, Unauthenticated, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)


def _problem_for(request: Request, error: Exception) -> Response:
    match error:
        case RecollectumError():
            return problem_of(error)
        case Unauthenticated():
            detail = "send an API key as `Authorization: Bearer …`; `recollectum keys create` makes one"
            return problem(401, "an API key is needed", detail, headers={"WWW-Authenticate": _REALM})
        case RequestValidationError():
            found = [_place(cast("Mapping[str, Any]", one)) for one in error.errors()[:_MOST_ERRORS]]
            return problem(422, "the request does not match the schema", errors=found)
        case HTTPException():
            title = _HTTP_TITLES.get(error.status_code, "the request cannot be served")
            allowed = {"Allow": _methods(request)} if error.status_code == 405 else {}
            return problem(error.status_code, title, headers={**(error.headers or {}), **allowed})
        case _:
            # The server's log has the rest.
            return problem(500, "internal error")


def _methods(request: Request) -> str:
    """Return every method of the path: the framework names only those of the first route."""
    there = (one.original_route for one in iter_route_contexts(request.app.routes))
    routes = [one for one in there if isinstance(one, Route)]
    path = next((one.path for one in routes if one.matches(request.scope)[0] is not Match.NONE), None)
    return ", ".join(sorted({method for one in routes if one.path == path for method in one.methods or ()}))


def _place(error: Mapping[str, Any]) -> Mapping[str, str]:
    """Return where the error is and what is expected; leave out an unknown field's name, which the caller chose."""
    kind = str(error.get("type", ""))
    where = [str(part) for part in cast("Sequence[object]", error.get("loc", ()))]
    if kind == "json_invalid":
        return {"in": "body", "detail": "this is not JSON"}
    if kind == "extra_forbidden":
        return {"in": "/".join(where[:-1]), "detail": "there is no such field"}
    detail = "this value is not allowed" if kind == "value_error" else without_values(str(error.get("msg", "")))
    return {"in": "/".join(where), "detail": detail}
