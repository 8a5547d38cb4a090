"""Mounts the MCP server of the official SDK in the HTTP app, at /mcp and /mcp/graph.

Each request is authenticated by its credential, as on every other route; a protocol session belongs to the caller who
started it, and gives access to nothing by itself.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import anyio.to_thread
import mcp_types as types
from fastapi import FastAPI
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from recollectum.doors.http.authentication import Visitor, authenticate
from recollectum.doors.http.body_shape import checked_receive
from recollectum.doors.http.server_state import ServerState
from recollectum.doors.mcp import dispatch, protocol_versions
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.client import Confirmations, McpClient, agent_name
from recollectum.doors.mcp.declarations import McpProfile, Wire
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH
from recollectum.doors.mcp.protocol_versions import ProtocolError, can_ask
from recollectum.doors.mcp.results import CONFIRM

PATH = "/mcp"
GRAPH_PATH = "/mcp/graph"
_MOST_SESSIONS = 1000

Context = ServerRequestContext[Any, Any]
#: Returns the client of a request, with the name of its program.
FindClient = Callable[[Context, str], McpClient]
#: Returns the caller of a request; None where everybody is allowed, as in a test.
Identify = Callable[[HTTPConnection], Visitor | None]


def add_mcp(app: FastAPI, serving: ServerState) -> None:
    """Add the MCP routes to the app; they require a key."""
    confirmations = Confirmations()

    def find(ctx: Context, agent: str) -> McpClient:
        visitor: object = ctx.request.state.visitor if ctx.request is not None else None
        if not isinstance(visitor, Visitor):
            raise TypeError("this request passed no door")
        # `vault()` reports the error when nobody is named.
        person = visitor.person or visitor.vault().owner
        vault = visitor.recollectum.with_client(f"mcp:{agent}").vault(person, agent=agent)
        return McpClient(vault, agent, confirmations)

    most = serving.limits.max_body
    servers = {PATH: build_server(DEFAULT, find), GRAPH_PATH: build_server(GRAPH, find)}
    mount(app, servers, authenticate, max_body=most)


def build_server(offer: McpProfile, find: FindClient) -> Server[Any]:
    """Return the SDK's server, which offers one profile to the clients that `find` recognises."""
    requests = _Requests(offer, find)
    listed = {method: partial(_list, offer.lists[method], kind) for method, kind in _LISTS.items()}
    prompts: dict[str, Any] = (
        {"on_list_prompts": listed["prompts/list"], "on_get_prompt": requests.get_prompt} if offer.prompts else {}
    )
    return Server(
        protocol_versions.NAME,
        title=protocol_versions.TITLE,
        version=protocol_versions.version(),
        instructions=offer.instructions,
        on_list_tools=listed["tools/list"],
        on_call_tool=requests.call_tool,
        on_list_resources=listed["resources/list"],
        on_list_resource_templates=listed["resources/templates/list"],
        on_read_resource=requests.read_resource,
        **prompts,
    )


_LISTS: Mapping[str, Any] = {
    "tools/list": types.ListToolsResult,
    "resources/list": types.ListResourcesResult,
    "resources/templates/list": types.ListResourceTemplatesResult,
    "prompts/list": types.ListPromptsResult,
}


async def _list(found: Wire, kind: Any, _: Context, __: object) -> Any:  # noqa: ANN401 - one of the four
    return kind.model_validate(found)


class _Requests:
    """The requests that need a vault, each answered by our code in a thread."""

    def __init__(self, offer: McpProfile, find: FindClient) -> None:
        self._offer = offer
        self._find = find

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        given = params.model_dump(by_alias=True)
        said = await self._answer(ctx, "tools/call", given)
        if "inputRequests" not in said:
            return types.CallToolResult.model_validate(said)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return types.InputRequiredResult.model_validate(said)
        # An older client is asked while its request waits, and the request is then repeated with the answer.
        question = said["inputRequests"][CONFIRM]["params"]
        form = await ctx.session.elicit_form(question["message"], question["requestedSchema"], ctx.request_id)
        again = {**given, "requestState": said["requestState"], "inputResponses": {CONFIRM: form.model_dump()}}
        return types.CallToolResult.model_validate(await self._answer(ctx, "tools/call", again))

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        found = await self._answer(ctx, "resources/read", {"uri": str(params.uri)})
        return types.ReadResourceResult.model_validate(found)

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        given = {"name": params.name, "arguments": params.arguments}
        return types.GetPromptResult.model_validate(await self._answer(ctx, "prompts/get", given))

    async def _answer(self, ctx: Context, method: str, params: Wire) -> Wire:
        client, known = ctx.session.client_params, ctx.session.client_capabilities
        agent = agent_name(client.client_info.name if client else None)
        asking = can_ask(known.model_dump(exclude_none=True) if known else {})
        work = partial(dispatch.answer, self._offer, partial(self._find, ctx, agent), method, params, can_ask=asking)
        try:
            return await anyio.to_thread.run_sync(work)
        except ProtocolError as error:
            raise MCPError(error.code, str(error), error.data) from None


def mount(app: FastAPI, servers: Mapping[str, Server[Any]], identify: Identify, *, max_body: int) -> None:
    """Add a route for each server to the app, and run them while the app runs."""
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
    """One route: authenticates, then passes the request to the SDK."""

    def __init__(self, server: Server[Any], identify: Identify, max_body: int) -> None:
        self._server = server
        self._identify = identify
        self._max_body = max_body
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve requests while the context is open; it can be entered again."""
        # A manager runs only once in its life.
        self._manager = StreamableHTTPSessionManager(
            self._server,
            max_request_body_size=self._max_body,
            max_sessions=_MOST_SESSIONS,
            # The guard around the whole app has checked Host and Origin.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        async with self._manager.run():
            yield
        self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = HTTPConnection(scope)
        visitor = await anyio.to_thread.run_sync(self._identify, request)
        whole = await checked_receive(receive)
        if self._manager is None:
            raise RuntimeError("the app was not started; run it with its lifespan")
        if visitor is not None:
            request.state.visitor = visitor
            # The SDK ties a session to this; never to the secret itself.
            name, subject = visitor.caller_name, str(visitor.person)
            token = AccessToken(token=name, client_id=name, scopes=[], subject=subject)
            scope["user"] = AuthenticatedUser(token)
        if scope["method"] == "GET":
            # We never send unasked, and an open stream would delay the server's stop.
            await Response(status_code=405, headers={"Allow": "POST, DELETE"})(scope, receive, send)
            return
        await self._manager.handle_request(scope, whole, send)
