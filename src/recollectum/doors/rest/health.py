"""`/healthz`, `/readyz`, `/metrics` and `/openapi.json`: reports the state of the server."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollectum.domain.access.caller import Permission
from recollectum.domain.errors import Denied
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.http.metrics import metrics_of
from recollectum.doors.http.server_state import server_state_of
from recollectum.doors.rest.responses import Responses, describe_responses, json_response

open_router = APIRouter(tags=["health"])
router = APIRouter(route_class=KeyedRoute, tags=["health"])
_TEXT: Responses = {200: {"description": "Prometheus text.", "content": {"text/plain": {}}}}


@open_router.get("/healthz", responses=describe_responses({"status": Literal["ok"]}), openapi_extra={"security": []})
async def healthz() -> Response:
    """Report that the process answers; needs no key."""
    return json_response({"status": "ok"})


@router.get("/readyz", responses=describe_responses({"status": Literal["ready"]}))
def readyz(request: Request) -> Response:
    """Report whether the home is open and its catalog is readable."""
    server_state_of(request).recollectum.list_owners()
    return json_response({"status": "ready"})


@router.get("/metrics", responses=describe_responses(None, more=_TEXT))
def metrics(request: Request) -> Response:
    """Return counts and times by route, for Prometheus; no content, no ids, no names. Needs a key that may read."""
    if Permission.READ not in visitor_of(request).recollectum.caller.permissions:
        raise Denied("this key may not read")
    return Response(metrics_of(request).rendered(), media_type="text/plain; version=0.0.4")


@router.get("/openapi.json", include_in_schema=False)
def schema(request: Request) -> Response:
    """Return the OpenAPI document of the whole API."""
    return json_response(request.app.openapi())
