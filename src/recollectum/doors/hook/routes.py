"""`POST /hook` and `POST /v1/hook`: answers hook events of agents on this machine, and with an API key on others."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from recollectum.domain.access.caller import Permission
from recollectum.domain.errors import Denied
from recollectum.doors.hook.responder import HookRequest, HookResponder, make_responder
from recollectum.doors.http.authentication import KeyedRoute, Unauthenticated, is_local_token, visitor_of
from recollectum.doors.http.server_state import ServerState

# Not in the public description: only programs of this account on this machine can call it.
router = APIRouter(include_in_schema=False)
# Nor is this: only our own hooks call it.
keyed_router = APIRouter(route_class=KeyedRoute, include_in_schema=False)


def add_hook(app: FastAPI) -> None:
    """Add the route to the app, whose `state.serving` is set; received events are recorded before the app ends."""
    answering = make_responder(cast("ServerState", app.state.serving).recollectum)
    app.state.hook = answering
    app.include_router(router)
    app.include_router(keyed_router)
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(within: FastAPI) -> AsyncGenerator[Mapping[str, Any]]:
        async with before(within) as state:
            yield state or {}
            # An ended conversation is consolidated after the next start: a model may take minutes for it.
            await run_in_threadpool(partial(answering.close, reading=False))

    app.router.lifespan_context = lifespan


@router.post("/hook")
async def hook(request: Request) -> Response:
    """Answer one event of an agent on this machine."""
    # API keys are refused: an event names a file, which is read with the rights of this process.
    if not is_local_token(request):
        raise Unauthenticated
    asked = HookRequest.decode(await request.body())
    return await _answered(request, asked)


@keyed_router.post("/v1/hook")
async def keyed_hook(request: Request) -> Response:
    """Answer one event of an agent on another machine, from the vault of the key's person; no file is read."""
    visitor = visitor_of(request)
    if Permission.READ not in visitor.recollectum.caller.permissions:
        raise Denied("this key may not read")
    vault = await run_in_threadpool(visitor.vault)
    asked = HookRequest.decode_keyed(await request.body(), vault, visitor.caller_name)
    return await _answered(request, asked)


async def _answered(request: Request, asked: HookRequest) -> Response:
    answering = cast("HookResponder", request.app.state.hook)
    return JSONResponse(await run_in_threadpool(answering.answer, asked))
