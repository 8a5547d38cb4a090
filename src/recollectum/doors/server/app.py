"""Builds the HTTP app of one server: every door behind one guard, and `POST /local/embed`."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Scope

from recollectum.domain.errors import InvalidInput, ModelMissing
from recollectum.domain.models.embedder import Purpose
from recollectum.doors.console.page_requests import is_signed_in, refusal_page
from recollectum.doors.console.routes import add_console
from recollectum.doors.hook.routes import add_hook
from recollectum.doors.http.authentication import Unauthenticated, is_local_token, shows_key
from recollectum.doors.http.guard import Guard
from recollectum.doors.http.metrics import Metrics, MetricsMiddleware
from recollectum.doors.http.problems import add_problems
from recollectum.doors.http.readiness import Readiness
from recollectum.doors.http.server_state import ServerState, server_state_of
from recollectum.doors.mcp.http_mount import add_mcp
from recollectum.doors.rest.routes import add_rest
from recollectum.models.embedding.port import Wrapper
from recollectum.models.embedding.shared import PATH, pack
from recollectum.upkeep.readiness import HomeReadiness

_MOST_TEXTS = 256


def add_embedding(app: FastAPI) -> None:
    """Add the route to the app; it is not part of the public interface."""
    app.add_route(PATH, _embed, methods=["POST"], include_in_schema=False)


async def _embed(request: Request) -> Response:
    serving = server_state_of(request)
    # API keys are refused: it is for programs that can read the home's files anyway.
    if not is_local_token(request):
        raise Unauthenticated
    texts, purpose = _parse_body(await request.body())
    return JSONResponse(await run_in_threadpool(_embedded, serving, texts, purpose))


def _embedded(serving: ServerState, texts: Sequence[str], purpose: Purpose) -> dict[str, object]:
    embedder = serving.recollectum.embedder
    while isinstance(embedder, Wrapper):
        # The model itself: the caller's own cache does the rounding.
        embedder = embedder.inner
    if embedder is None or embedder.identity.provider != "local":
        raise ModelMissing("this daemon has no local embedder; the calling process must load its own")
    rows = embedder.embed(texts, purpose)
    return {"identity": embedder.identity.text_key(), "vectors": pack(rows)}


def _parse_body(body: bytes) -> tuple[list[str], Purpose]:
    try:
        fields = cast("Mapping[str, object]", json.loads(body))
        texts, purpose = fields["texts"], Purpose(str(fields["purpose"]))
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("the body must have texts and a purpose") from None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in cast("list[object]", texts)):
        raise InvalidInput("texts must be a list of strings")
    given = cast("list[str]", texts)
    if len(given) > _MOST_TEXTS:
        raise InvalidInput(f"there are {len(given)} texts, but at most {_MOST_TEXTS} are allowed; send fewer")
    return given, purpose


#: Where forms of the console may be posted to; each a path, or everything below one that ends with a slash.
FORM_PATHS: tuple[str, ...] = ("/login", "/console/")


class ServedApp(FastAPI):
    """The app with the guard around all of it, including its error handlers."""

    def __init__(self, serving: ServerState, clock: Callable[[], float]) -> None:
        super().__init__(title="Recollectum", docs_url=None, redoc_url=None, openapi_url=None)
        self.state.serving = serving
        server = serving.recollectum.admin.engine.server
        self.state.metrics = Metrics(server.figures if server else tuple)
        self.state.readiness = Readiness(HomeReadiness(serving.recollectum.admin).problem, serving.stop.is_set)
        self._clock = clock

    def build_middleware_stack(self) -> ASGIApp:
        """Return the framework's layers, with ours around them."""
        serving: ServerState = self.state.serving
        inner = super().build_middleware_stack()
        guarded = Guard(inner, serving.limits, self._clock, FORM_PATHS, _is_known, refusal_page)
        return MetricsMiddleware(guarded, self.state.metrics)


def _is_known(scope: Scope) -> bool:
    """Return whether a request has a valid credential: a key, the daemon's own token, or a signed-in browser."""
    request = HTTPConnection(scope)
    return shows_key(request) or is_signed_in(request)


def build_app(serving: ServerState, *, clock: Callable[[], float] = time.monotonic) -> FastAPI:
    """Return the app with every route of one server; it does not listen yet."""
    app = ServedApp(serving, clock)
    add_problems(app, refusal_page)
    add_rest(app, mem0=serving.recollectum.settings.server.mem0 == "on")
    add_mcp(app, serving)
    add_hook(app)
    add_console(app, serving)
    return app
