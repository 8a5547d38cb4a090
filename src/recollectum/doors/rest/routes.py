"""Every REST route, by noun."""

from functools import partial
from importlib.metadata import version

from fastapi import FastAPI

from recollectum.doors.rest import events, export, health, keys, learnings, memories, purge, recall, review, sessions
from recollectum.doors.rest.schema import make_schema

_ROUTERS = (
    health.open_router,
    health.router,
    purge.router,
    recall.router,
    memories.router,
    sessions.router,
    learnings.router,
    review.router,
    events.router,
    export.router,
    keys.router,
)


def add_rest(app: FastAPI) -> None:
    """Give the routes to the app."""
    for router in _ROUTERS:
        app.include_router(router)
    # The framework asks for it by this name.
    app.openapi = partial(make_schema, app, version("recollectum"))
