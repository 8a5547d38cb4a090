"""`/healthz`, `/readyz`, `/metrics` and `/openapi.json`: reports the state of the server."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollectum.domain.access.caller import Permission
from recollectum.domain.errors import Denied
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.http.metrics import metrics_of
from recollectum.doors.http.problems import MEDIA_TYPE, problem
from recollectum.doors.http.readiness import readiness_of
from recollectum.doors.rest.responses import PROBLEM_REF, Responses, describe_responses, json_response

open_router = APIRouter(tags=["health"])
router = APIRouter(route_class=KeyedRoute, tags=["health"])
_NOT_READY: Responses = {
    503: {
        "description": "The server cannot serve now, or is stopping; `detail` says why.",
        "content": {MEDIA_TYPE: {"schema": dict(PROBLEM_REF)}},
    }
}
_TEXT: Responses = {200: {"description": "Prometheus text.", "content": {"text/plain": {}}}}


@open_router.get("/healthz", responses=describe_responses({"status": Literal["ok"]}), openapi_extra={"security": []})
async def healthz() -> Response:
    """Report that the process answers; needs no key."""
    return json_response({"status": "ok"})


@open_router.get(
    "/readyz",
    responses=describe_responses({"status": Literal["ready"]}, more=_NOT_READY),
    openapi_extra={"security": []},
)
async def readyz(request: Request) -> Response:
    """Report whether the server can serve, or one sentence why not; needs no key, and fails when the server stops."""
    why_not = await readiness_of(request).problem()
    return json_response({"status": "ready"}) if why_not is None else problem(503, "not ready", why_not)


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
