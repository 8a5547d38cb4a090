"""Mounts the MCP server in the HTTP app, at /mcp and /mcp/graph.

Who asks is known from the credential of each single request, as on every other route; a session of the protocol belongs
to the one who began it, and shows nobody anything by itself.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from recollectum.doors.http.authentication import Visitor, authenticate
from recollectum.doors.http.server_state import ServerState
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.client import Confirmations, McpClient
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH
from recollectum.doors.mcp.sdk_server import Context, build_server

PATH = "/mcp"
GRAPH_PATH = "/mcp/graph"
_MOST_SESSIONS = 1000

#: Who is behind a request; None where anybody may come in, as in a test.
Identify = Callable[[HTTPConnection], Visitor | None]


def add_mcp(app: FastAPI, serving: ServerState) -> None:
    """Give the app its MCP routes, for whoever shows a key."""
    confirmations = Confirmations()

    def find_guest(ctx: Context, agent: str) -> McpClient:
        visitor: object = ctx.request.state.visitor if ctx.request is not None else None
        if not isinstance(visitor, Visitor):
            raise TypeError("this request passed no door")
        # `vault()` says what is missing when nobody is named.
        person = visitor.person or visitor.vault().owner
        vault = visitor.recollectum.with_client(f"mcp:{agent}").vault(person, agent=agent)
        return McpClient(vault, agent, confirmations)

    most = serving.limits.max_body
    servers = {PATH: build_server(DEFAULT, find_guest), GRAPH_PATH: build_server(GRAPH, find_guest)}
    mount(app, servers, authenticate, max_body=most)


def mount(app: FastAPI, servers: Mapping[str, Server[Any]], identify: Identify, *, max_body: int) -> None:
    """Give the app a route for each server, and run them as long as the app runs."""
    doors = {path: _McpRoute(server, identify, max_body) for path, server in servers.items()}
    app.router.routes.extend(Route(path, endpoint=door) for path, door in doors.items())
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(within: FastAPI) -> AsyncGenerator[Mapping[str, Any]]:
        async with AsyncExitStack() as stack:
            state = await stack.enter_async_context(before(within))
            for door in doors.values():
                await stack.enter_async_context(door.running())
            yield state or {}

    app.router.lifespan_context = lifespan


class _McpRoute:
    """One route: finds out who asks, then lets the SDK speak the protocol."""

    def __init__(self, server: Server[Any], identify: Identify, max_body: int) -> None:
        self._server = server
        self._identify = identify
        self._max_body = max_body
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve requests for as long as this is entered; it may be entered again."""
        # A manager runs only once in its life.
        self._manager = StreamableHTTPSessionManager(
            self._server,
            max_request_body_size=self._max_body,
            max_sessions=_MOST_SESSIONS,
            # The guard around the whole app has looked at Host and Origin.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        async with self._manager.run():
            yield
        self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = HTTPConnection(scope)
        visitor = self._identify(request)
        if self._manager is None:
            raise RuntimeError("the app was not started; run it with its lifespan")
        if visitor is not None:
            request.state.visitor = visitor
            # The SDK ties a session to this; never to the secret itself.
            name, subject = visitor.caller_name, str(visitor.person)
            token = AccessToken(token=name, client_id=name, scopes=[], subject=subject)
            scope["user"] = AuthenticatedUser(token)
        if scope["method"] == "GET":
            # We never speak unasked, and a stream that stays open would hold up the server's end.
            await Response(status_code=405, headers={"Allow": "POST, DELETE"})(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)
