"""KeyedRoute: a route that knows who is asking before it reads a byte of what they ask."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from recollectum.doors.http.visitor import Visitor, authenticate

#: What rules call whoever comes by a keyed route, beside the name of their key.
CLIENT = "http:api"
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class KeyedRoute(APIRoute):
    """A route of FastAPI's that is closed to whoever shows no credential."""

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, behind the look at the credential."""
        handle = super().get_route_handler()

        async def keyed(request: Request) -> Response:
            # In place and not in a thread: it is one look into a cached table, and a hop would cost more.
            request.state.visitor = authenticate(request).through(CLIENT)
            return await handle(request)

        return keyed


def visitor_of(request: Request) -> Visitor:
    """The visitor of a keyed route."""
    found: object = request.state.visitor
    if not isinstance(found, Visitor):
        raise TypeError("this route is not keyed")
    return found
