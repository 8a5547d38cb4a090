"""`/healthz`, `/readyz`, `/metrics` and the schema: how the server is. Only the first answers without a key."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollectum.domain.caller import Permission
from recollectum.domain.errors import Denied
from recollectum.doors.http.keyed import KeyedRoute, visitor_of
from recollectum.doors.http.metrics import metrics_of
from recollectum.doors.http.serving import serving_of
from recollectum.doors.rest.answers import Responses, described, document
from recollectum.doors.rest.documents import Health

open_router = APIRouter(tags=["health"])
router = APIRouter(route_class=KeyedRoute, tags=["health"])
_TEXT: Responses = {200: {"description": "Prometheus text.", "content": {"text/plain": {}}}}


@open_router.get("/healthz", responses=described(Health), openapi_extra={"security": []})
async def healthz() -> Response:
    """The process answers; this says nothing else, and needs no key."""
    return document({"status": "ok"})


@router.get("/readyz", responses=described(Health))
def readyz(request: Request) -> Response:
    """The home is open and its catalog can be read."""
    serving_of(request).recollectum.owners()
    return document({"status": "ready"})


@router.get("/metrics", responses=described(None, more=_TEXT))
def metrics(request: Request) -> Response:
    """Counts and times by route, for Prometheus; no content, no ids, no names. Needs a key that may read."""
    if Permission.READ not in visitor_of(request).recollectum.caller.permissions:
        raise Denied("this key may not read")
    return Response(metrics_of(request).rendered(), media_type="text/plain; version=0.0.4")


@router.get("/openapi.json", include_in_schema=False)
def schema(request: Request) -> Response:
    """The whole of the API, for programs."""
    return document(request.app.openapi())
