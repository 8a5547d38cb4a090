"""`POST /hook`: the same events by way of the daemon, which has everything open already."""

import hmac
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from recollectum.doors.hook.attending import Asked, Attending
from recollectum.doors.hook.opening import attending
from recollectum.doors.http.serving import Serving, serving_of
from recollectum.doors.http.visitor import Unauthenticated, bearer

# Not in the public description: only programs of this machine's account can call it.
router = APIRouter(include_in_schema=False)


def add_hook(app: FastAPI) -> None:
    """Give the route to the app, whose `state.serving` is set; what was handed in is recorded before the app ends."""
    answering = attending(cast("Serving", app.state.serving).recollectum)
    app.state.hook = answering
    app.include_router(router)
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(within: FastAPI) -> AsyncGenerator[Mapping[str, Any]]:
        async with before(within) as state:
            yield state or {}
            # A conversation that ended is read when the daemon is there again: a model may take minutes for it.
            await run_in_threadpool(partial(answering.close, reading=False))

    app.router.lifespan_context = lifespan


@router.post("/hook")
async def hook(request: Request) -> Response:
    """Answer one event of an agent on this machine."""
    # Never a key: an event names a file, which is read with the rights of this process.
    if not hmac.compare_digest(bearer(request).encode(), serving_of(request).local_token.encode()):
        raise Unauthenticated
    asked = Asked.decode(await request.body())
    answering = cast("Attending", request.app.state.hook)
    return JSONResponse(await run_in_threadpool(answering.answer, asked))
