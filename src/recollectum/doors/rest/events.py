"""`/events`: the audit trail of a vault, newest first."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.event import EventType
from recollectum.doors.http.keyed import KeyedRoute, visitor_of
from recollectum.doors.rest.answers import described, document
from recollectum.doors.rest.documents import EventPage
from recollectum.doors.rest.fields import OwnerQuery
from recollectum.doors.rest.paging import CursorQuery, Limit, number_of, to_cursor

router = APIRouter(route_class=KeyedRoute, tags=["events"])
_LIST = "events"


@router.get("/events", responses=described(EventPage))
def list_events(
    request: Request,
    type_: Annotated[EventType | None, Query(alias="type")] = None,
    limit: Limit = 50,
    cursor: CursorQuery = None,
    owner: OwnerQuery = None,
) -> Response:
    """What happened. Events name things by id and never repeat what they say."""
    before = number_of(_LIST, cursor)
    found = visitor_of(request).vault(owner).events.page(type=type_, before=before, limit=limit)
    following = to_cursor(_LIST, found[-1].number) if len(found) == limit else None
    return document({"events": found, "next": following})
