"""Adds every REST route to the app, and builds its OpenAPI document."""

from functools import partial
from importlib.metadata import version
from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from recollectum.doors.rest import events, export, health, keys, learnings, memories, purge, recall, review, sessions
from recollectum.doors.rest.home_routes import extensions
from recollectum.doors.rest.mem0 import not_offered
from recollectum.doors.rest.mem0 import routes as mem0_routes
from recollectum.doors.rest.responses import ErrorPlace, ProblemDocument
from recollectum.doors.rest.state import accounts, history, interfaces, tasks
from recollectum.doors.rest.transfers import imports

_TEMPLATE = "#/components/schemas/{model}"
_ABOUT = "A private memory for agents and people. Every path but /healthz and /readyz needs an API key."


def make_schema(app: FastAPI, version: str) -> dict[str, Any]:
    """Return the document for all current routes."""
    made = get_openapi(title="Recollectum", version=version, description=_ABOUT, routes=app.routes)
    _, more = models_json_schema(
        [(ProblemDocument, "serialization"), (ErrorPlace, "serialization")], ref_template=_TEMPLATE
    )
    components = made.setdefault("components", {})
    components.setdefault("schemas", {}).update(more["$defs"], **_taken_out(made["paths"]))
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    made["security"] = [{"key": []}]
    return made


def _taken_out(part: object) -> dict[str, Any]:
    """Move the schemas out of the responses: the document has each once."""
    found: dict[str, Any] = {}
    if isinstance(part, dict):
        inside = cast("dict[str, object]", part)
        found |= cast("dict[str, Any]", inside.pop("$defs", {}))
        for one in inside.values():
            found |= _taken_out(one)
    return found


_ROUTERS = (
    health.open_router,
    health.router,
    purge.router,
    recall.router,
    memories.router,
    sessions.router,
    learnings.router,
    sessions.projects_router,
    review.router,
    events.router,
    export.router,
    imports.router,
    history.router,
    interfaces.router,
    accounts.router,
    tasks.router,
    keys.router,
    extensions.router,
)
_MEM0 = (mem0_routes.router, not_offered.router)


def add_rest(app: FastAPI, *, mem0: bool = True) -> None:
    """Add the routes to the app, and with `mem0` those of mem0's client."""
    for router in (*_ROUTERS, *(_MEM0 if mem0 else ())):
        app.include_router(router)
    # The framework calls it by this name.
    app.openapi = partial(make_schema, app, version("recollectum"))
