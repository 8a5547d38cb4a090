"""Fixture tools that say something before they answer: a log line, a question to the client's model, a changed list."""

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.message import ServerMessageMetadata

Context = ServerRequestContext[Any, Any]
_CHANGES = {"test_trigger_tool_change": ToolsListChanged(), "test_trigger_prompt_change": PromptsListChanged()}


class Speaking:
    """The tools, and the one place that streams of changes are told from."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)
        self._watched: set[str] = set()
        self.work = {
            "test_tool_with_logging": _log,
            "test_logging_tool": _log,
            "test_sampling": _sample,
            **dict.fromkeys(_CHANGES, self._change),
        }

    async def _change(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        await self._bus.publish(_CHANGES[params.name])
        return _said("the list changed")

    async def watch(self, _: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Note that somebody wants to hear of a resource."""
        self._watched.add(str(params.uri))
        return types.EmptyResult()

    async def unwatch(self, _: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Forget it again; what nobody watches is an error."""
        self._watched.remove(str(params.uri))
        return types.EmptyResult()


def let_log(server: Server[Any]) -> None:
    """Declare logging, which the newer era dropped: the server's constructor would warn."""

    async def set_level(_: Context, __: types.SetLevelRequestParams) -> types.EmptyResult:
        return types.EmptyResult()

    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)


async def _log(ctx: Context, _: types.CallToolRequestParams) -> types.CallToolResult:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        # In the newer era nothing is sent unless the request asks for it, and that is what a scenario looks at.
        await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)  # pyright: ignore[reportDeprecated]
        await asyncio.sleep(0.02)
    return _said("logged")


async def _sample(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    prompt = types.TextContent(text=str((params.arguments or {}).get("prompt")))
    asked = types.CreateMessageRequestParams(
        messages=[types.SamplingMessage(role="user", content=prompt)], max_tokens=100
    )
    answer = await ctx.session.send_request(
        types.CreateMessageRequest(params=asked),
        types.CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
    )
    return _said(f"LLM response: {answer.content}")


def _said(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=words)])
