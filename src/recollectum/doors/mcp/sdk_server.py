"""Connects our tools to the server of the official SDK."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from recollectum.domain.errors import RecollectumError
from recollectum.doors.mcp import dispatch
from recollectum.doors.mcp.client import McpClient, agent_name
from recollectum.doors.mcp.declarations import McpProfile, Wire
from recollectum.doors.mcp.dispatch import UnknownName
from recollectum.doors.mcp.protocol_versions import NAME, TITLE, version
from recollectum.doors.mcp.results import ConfirmationQuestion, ToolAnswer, error_result
from recollectum.doors.mcp.tools import kept_answer

Context = ServerRequestContext[Any, Any]
#: Who is behind a request, under the name their program gave itself.
FindGuest = Callable[[Context, str], McpClient]
T = TypeVar("T")

_CONFIRM = "confirm"
_ASKED: dict[str, Any] = {
    "type": "object",
    "properties": {_CONFIRM: {"type": "boolean", "title": "Forget it", "default": False}},
    "required": [_CONFIRM],
}


def build_server(offer: McpProfile, find_guest: FindGuest) -> Server[Any]:
    """A server that offers one profile to whoever `find_guest` recognises."""
    handlers = _Handlers(offer, find_guest)
    prompts: dict[str, Any] = (
        {"on_list_prompts": handlers.list_prompts, "on_get_prompt": handlers.get_prompt} if offer.prompts else {}
    )
    return Server(
        NAME,
        title=TITLE,
        version=version(),
        instructions=offer.instructions,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        **prompts,
    )


class _Handlers:
    """The requests of the protocol, each handed to our own code in a thread."""

    def __init__(self, offer: McpProfile, find_guest: FindGuest) -> None:
        self._offer = offer
        self._find_guest = find_guest

    async def list_tools(self, _: Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate(self._offer.lists["tools/list"])

    async def list_resources(self, _: Context, __: object) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate(self._offer.lists["resources/list"])

    async def list_templates(self, _: Context, __: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult.model_validate(self._offer.lists["resources/templates/list"])

    async def list_prompts(self, _: Context, __: object) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate(self._offer.lists["prompts/list"])

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments: dict[str, Any] = dict(params.arguments or {})
        if params.request_state is not None and params.input_responses is not None:
            # The person was asked in an earlier round; the state is the token, which the tool itself checks.
            if not _agreed(params.input_responses.get(_CONFIRM)):
                return _result(kept_answer(str(arguments.get("id", ""))).wire())
            arguments[_CONFIRM] = params.request_state
        said = await self._call(ctx, params.name, arguments)
        if not isinstance(said, ConfirmationQuestion):
            return said
        if not _can_ask(ctx):
            return _result(said.otherwise.wire())
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            asked = types.ElicitRequest(
                params=types.ElicitRequestFormParams(message=said.message, requested_schema=_ASKED)
            )
            return types.InputRequiredResult(input_requests={_CONFIRM: asked}, request_state=said.token)
        answer = await ctx.session.elicit_form(said.message, _ASKED, ctx.request_id)
        if not _agreed(answer):
            return _result(kept_answer(arguments["id"]).wire())
        done = await self._call(ctx, params.name, {**arguments, _CONFIRM: said.token})
        return _result(done.otherwise.wire()) if isinstance(done, ConfirmationQuestion) else done

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        contents = await self._told(ctx, lambda guest: dispatch.read_resource(self._offer, guest, uri), {"uri": uri})
        return types.ReadResourceResult.model_validate({"contents": [contents]})

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        arguments = params.arguments or {}
        work = partial(dispatch.get_prompt, self._offer, name=params.name, arguments=arguments)
        return types.GetPromptResult.model_validate(await self._told(ctx, work))

    async def _call(
        self, ctx: Context, name: str, arguments: dict[str, Any]
    ) -> types.CallToolResult | ConfirmationQuestion:
        """The result of a tool; what is wrong with its arguments is told to the model in a result as well."""

        def work() -> ToolAnswer | ConfirmationQuestion:
            return dispatch.call_tool(self._offer, self._guest(ctx), name, arguments)

        try:
            said = await _in_thread(work)
        except UnknownName as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        except RecollectumError as error:
            return _result(error_result(dispatch.error_sentence(error)))
        return said if isinstance(said, ConfirmationQuestion) else _result(said.wire())

    async def _told(self, ctx: Context, work: Callable[[McpClient], T], data: Wire | None = None) -> T:
        """What is read for a guest; an error of ours is one of the protocol's."""
        try:
            return await _in_thread(lambda: work(self._guest(ctx)))
        except (UnknownName, RecollectumError) as error:
            told = dispatch.error_sentence(error) if isinstance(error, RecollectumError) else str(error)
            raise MCPError(types.INVALID_PARAMS, told, data) from None

    def _guest(self, ctx: Context) -> McpClient:
        params = ctx.session.client_params
        return self._find_guest(ctx, agent_name(params.client_info.name if params else None))


def _result(wire: Wire) -> types.CallToolResult:
    return types.CallToolResult.model_validate(wire)


def _in_thread(work: Callable[[], T]) -> Awaitable[T]:
    return anyio.to_thread.run_sync(work)


def _can_ask(ctx: Context) -> bool:
    """Whether the client can put a form before the person; a bare `elicitation: {}` means that it can."""
    capabilities = ctx.session.client_capabilities
    asking = capabilities.elicitation if capabilities else None
    return asking is not None and (asking.form is not None or asking.url is None)


def _agreed(answer: object) -> bool:
    return (
        isinstance(answer, types.ElicitResult)
        and answer.action == "accept"
        and answer.content is not None
        and answer.content.get(_CONFIRM) is True
    )
