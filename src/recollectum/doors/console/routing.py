"""The console's kind of route: what goes wrong becomes a calm page, and every answer has the strict headers."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from recollectum.domain.errors import (
    Busy,
    Conflict,
    Denied,
    InvalidInput,
    ModelError,
    NotFound,
    RecollectumError,
    StepRefused,
)
from recollectum.doors.console.rendering import HEADERS, render
from recollectum.doors.console.visiting import ROOT, SignInNeeded, theme_of

_STATUS: tuple[tuple[type[RecollectumError], int, str], ...] = (
    (NotFound, 404, "That is not here"),
    (Denied, 403, "That is not allowed"),
    (Conflict, 409, "It changed in the meantime"),
    (StepRefused, 409, "That step does not exist from here"),
    (InvalidInput, 400, "That cannot be used"),
    (Busy, 503, "Somebody else is writing"),
    (ModelError, 503, "The model did not answer"),
)


class ConsoleRoute(APIRoute):
    """A route whose failures are pages for a person."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler behind the calm."""
        handle = super().get_route_handler()

        async def calm(request: Request) -> Response:
            try:
                response = await handle(request)
            except SignInNeeded:
                response = await run_in_threadpool(sign_in_page, request)
            except RecollectumError as error:
                response = await run_in_threadpool(trouble_page, request, error)
            except RequestValidationError:
                refused = InvalidInput("the address of this page has a part that cannot be used")
                response = await run_in_threadpool(trouble_page, request, refused)
            for name, value in HEADERS.items():
                response.headers[name] = value
            return response

        return calm


def new_router() -> APIRouter:
    """A set of console pages; they are for people, and stand in no description of the API."""
    return APIRouter(route_class=ConsoleRoute, include_in_schema=False)


def sign_in_page(request: Request, *, link: str = "", trouble: str = "", status: int = 401) -> Response:
    """The page for whoever is not signed in."""
    values = {"link": link, "trouble": trouble, "theme": theme_of(request), "root": ROOT}
    return render("sign_in.html", values, status=status)


def trouble_page(request: Request, error: RecollectumError) -> Response:
    """What went wrong, in a sentence, and the way back."""
    found = next(((code, words) for kind, code, words in _STATUS if isinstance(error, kind)), None)
    status, heading = found or (500, "Something went wrong")
    values = {"heading": heading, "sentence": str(error), "theme": theme_of(request), "root": ROOT}
    return render("trouble.html", values, status=status)
