"""`/v1/events`: lists the audit trail of a vault, newest first."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.event import Event, EventType
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.requests import OwnerQuery
from recollectum.doors.rest.responses import (
    CursorQuery,
    Limit,
    decode_row_cursor,
    describe_responses,
    encode_cursor,
    json_response,
)

router = APIRouter(route_class=KeyedRoute, tags=["events"])
_LIST = "events"


@router.get("/v1/events", responses=describe_responses({"events": list[Event], "next": str | None}))
def list_events(
    request: Request,
    type_: Annotated[EventType | None, Query(alias="type")] = None,
    limit: Limit = 50,
    cursor: CursorQuery = None,
    owner: OwnerQuery = None,
) -> Response:
    """List what happened. Events name things by id and never contain their content."""
    place = decode_row_cursor(_LIST, cursor)
    found = visitor_of(request).vault(owner).admin.events.list(type=type_, cursor=place, limit=limit)
    following = encode_cursor(_LIST, found.next)
    return json_response({"events": found, "next": following})
