"""`/v1/state`: what user interfaces keep between runs."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.agent_state.interface import DEFAULT_INTERFACE, InterfaceValue
from recollectum.domain.notice import Notice
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.requests import OwnerQuery, SaveState
from recollectum.doors.rest.responses import describe_responses, json_response

router = APIRouter(route_class=KeyedRoute, tags=["state"])
Interface = Annotated[
    str, Query(min_length=1, max_length=128, pattern="^[A-Za-z0-9._-]+$", description="The user interface.")
]
KeyQuery = Annotated[str, Query(min_length=1, max_length=128, pattern="^[A-Za-z][A-Za-z0-9_.-]*$")]


@router.get("/v1/state", responses=describe_responses({"values": list[InterfaceValue], "interfaces": list[str]}))
def list_values(request: Request, interface: Interface = DEFAULT_INTERFACE, owner: OwnerQuery = None) -> Response:
    """List the values of a user interface, and the names of those that keep something."""
    state = visitor_of(request).vault(owner).state.interfaces
    return json_response({"values": state.list(interface), "interfaces": state.list_interfaces()})


@router.put("/v1/state", responses=describe_responses({"value": InterfaceValue, "notice": Notice}))
def save_value(request: Request, body: SaveState, owner: OwnerQuery = None) -> Response:
    """Save a value in place of the one that the key has; the other values stay."""
    saved = visitor_of(request).vault(owner).state.interfaces.save(body.key, body.value, body.interface)
    return json_response({"value": saved, "notice": saved.notice})


@router.delete("/v1/state", responses=describe_responses({"deleted": str}))
def delete_value(
    request: Request, key: KeyQuery, interface: Interface = DEFAULT_INTERFACE, owner: OwnerQuery = None
) -> Response:
    """Delete one value."""
    visitor_of(request).vault(owner).state.interfaces.delete(key, interface)
    return json_response({"deleted": key})
