"""A server with the tools, resources and prompts that the conformance suite asks for by name; mounted as ours is."""

import asyncio
import base64
import struct
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from tests.doors.mcp.fixtures_speaking import Speaking, let_log

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult
Work = Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]


def _png() -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    whole = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + whole).decode()


PNG = _png()
WAV = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0"
).decode()
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _resource(uri: str, mime_type: str, words: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


def _result(*content: dict[str, Any], error: bool = False) -> types.CallToolResult:
    return types.CallToolResult.model_validate({"content": list(content), "isError": error})


FIXED = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        _resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        _text("Multiple content types test:"),
        IMAGE,
        _resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
}


#: What a tool takes, where a scenario looks at that.
SCHEMAS: dict[str, dict[str, Any]] = {
    "test_param_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}


def _form(message: str, **properties: object) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


_TEXT = {"type": "string"}
NAME = _form("What is your name?", name=_TEXT)
ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}
CONFIRM = _form("Please confirm", ok={"type": "boolean"})


def _sampling(words: str, most: int = 100) -> dict[str, Any]:
    said = {"role": "user", "content": _text(words)}
    return {"method": "sampling/createMessage", "params": {"messages": [said], "maxTokens": most}}


#: What each tool asks, round by round; and whether it keeps a state in between.
ASKING: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "test_input_required_result_elicitation": ([{"user_name": NAME}], False),
    "test_input_required_result_sampling": ([{"capital_question": _sampling("What is the capital of France?")}], False),
    "test_input_required_result_list_roots": ([{"client_roots": ROOTS}], False),
    "test_input_required_result_request_state": ([{"confirm": CONFIRM}], True),
    "test_input_required_result_tampered_state": ([{"confirm": CONFIRM}], True),
    "test_input_required_result_multiple_inputs": (
        [{"user_name": NAME, "greeting": _sampling("Generate a greeting", 50), "client_roots": ROOTS}],
        True,
    ),
    "test_input_required_result_multi_round": (
        [
            {"step1": _form("Step 1: What is your name?", name=_TEXT)},
            {"step2": _form("Step 2: What is your favorite color?", color=_TEXT)},
        ],
        True,
    ),
}


def _asked(requests: dict[str, Any], state: str | None) -> types.InputRequiredResult:
    said = {"resultType": "input_required", "inputRequests": requests}
    return types.InputRequiredResult.model_validate(said if state is None else {**said, "requestState": state})


async def _ask(_: Context, params: types.CallToolRequestParams) -> Result:
    rounds, keeps = ASKING[params.name]
    answers = params.input_responses or {}
    done = int(params.request_state or 0) if keeps else 0
    answered = bool(answers) and all(_fits(answers.get(name)) for name in rounds[max(done - 1, 0)])
    if answered and (not keeps or done == len(rounds)):
        return _result(_text(f"state-ok Hello, {answers}!"))
    at = done if answered and keeps else 0
    return _asked(rounds[at], str(at + 1) if keeps else None)


def _fits(answer: object) -> bool:
    if isinstance(answer, types.ElicitResult):
        return answer.action != "accept" or bool(answer.content)
    return answer is not None


async def _capabilities(ctx: Context, _: types.CallToolRequestParams) -> Result:
    known = ctx.session.client_capabilities
    asked: dict[str, Any] = {}
    if known and known.elicitation:
        asked["user_name"] = NAME
    if known and known.sampling:
        asked["greeting"] = _sampling("Generate a greeting")
    return _asked(asked, None) if asked else _result(_text("nothing to ask"))


async def _missing(ctx: Context, _: types.CallToolRequestParams) -> Result:
    known = ctx.session.client_capabilities
    if known is None or known.sampling is None:
        data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", data)
    return _result(_text("sampling is there"))


async def _stream(_: Context, params: types.CallToolRequestParams) -> Result:
    return _result(_text("asked")) if params.input_responses else _asked({"user_name": NAME}, None)


async def _header(_: Context, params: types.CallToolRequestParams) -> Result:
    return _result(_text(f"asked with {sorted(params.arguments or {})}"))


async def _progress(ctx: Context, _: types.CallToolRequestParams) -> Result:
    for step in (0, 50, 100):
        await ctx.session.report_progress(step, 100)
        await asyncio.sleep(0.05)
    return _result(_text("done"))


async def _fail(_: Context, __: types.CallToolRequestParams) -> Result:
    return _result(_text("This tool intentionally returns an error for testing"), error=True)


async def _elicit(ctx: Context, params: types.CallToolRequestParams) -> Result:
    fields = {"username": "User's response", "email": "User's email address"}
    properties = {name: {"type": "string", "description": what} for name, what in fields.items()}
    return await _put(ctx, str((params.arguments or {}).get("message", "?")), properties, list(properties))


async def _defaults(ctx: Context, _: types.CallToolRequestParams) -> Result:
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await _put(ctx, "Defaults", properties, [])


async def _enums(ctx: Context, _: types.CallToolRequestParams) -> Result:
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{one}", "title": f"Option {one}"} for one in (1, 2, 3)]
    properties = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await _put(ctx, "Enums", properties, [])


async def _put(ctx: Context, message: str, properties: dict[str, Any], required: list[str]) -> Result:
    schema = {"type": "object", "properties": properties, "required": required}
    answer = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return _result(_text(f"Elicitation completed: action={answer.action}, content={answer.content}"))


WORK: dict[str, Work] = {
    "test_error_handling": _fail,
    "test_tool_with_progress": _progress,
    "test_elicitation": _elicit,
    "test_elicitation_sep1034_defaults": _defaults,
    "test_elicitation_sep1330_enums": _enums,
    "test_input_required_result_capabilities": _capabilities,
    "test_missing_capability": _missing,
    "test_streaming_elicitation": _stream,
    "test_param_header": _header,
    "json_schema_2020_12_tool": _header,
    **dict.fromkeys(ASKING, _ask),
}


async def _resources(_: Context, __: object) -> types.ListResourcesResult:
    uris = ("test://static-text", "test://static-binary")
    return types.ListResourcesResult(resources=[types.Resource(uri=one, name=one, description=one) for one in uris])


async def _read(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    found: dict[str, dict[str, str]] = {
        "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
        "test://static-binary": {"mimeType": "image/png", "blob": PNG},
        "test://template/123/data": {
            "mimeType": "application/json",
            "text": '{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
        },
    }
    if uri not in found:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return types.ReadResourceResult.model_validate({"contents": [{"uri": uri, **found[uri]}]})


async def _prompts(_: Context, __: object) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[types.Prompt(name=one, description=one) for one in PROMPTS])


PROMPTS: dict[str, Callable[[dict[str, str]], list[dict[str, Any]]]] = {
    "test_simple_prompt": lambda _: [_text("This is a simple prompt for testing.")],
    "test_prompt_with_arguments": lambda given: [
        _text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")
    ],
    "test_prompt_with_embedded_resource": lambda given: [
        _resource(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
        _text("Please process the embedded resource above."),
    ],
    "test_prompt_with_image": lambda _: [IMAGE, _text("Please analyze the image above.")],
    "test_input_required_result_prompt": lambda _: [_text("with context")],
}


async def _prompt(
    _: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    if params.name == "test_input_required_result_prompt" and not params.input_responses:
        return _asked({"user_context": _form("What context should the prompt use?", context=_TEXT)}, None)
    said = [{"role": "user", "content": one} for one in PROMPTS[params.name](params.arguments or {})]
    return types.GetPromptResult.model_validate({"messages": said})


async def _templates(_: Context, __: object) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def _complete(_: Context, __: object) -> types.CompleteResult:
    return types.CompleteResult.model_validate({"completion": {"values": ["paris"], "total": 1, "hasMore": False}})


def fixture_server() -> Server[Any]:
    """The server that the suite's scenarios want."""
    speaking = Speaking()
    work: dict[str, Work] = {**WORK, **speaking.work}

    async def call(ctx: Context, params: types.CallToolRequestParams) -> Result:
        return _result(*FIXED[params.name]) if params.name in FIXED else await work[params.name](ctx, params)

    async def tools(_: Context, __: object) -> types.ListToolsResult:
        listed = [_tool(name) for name in (*FIXED, *work)]
        return types.ListToolsResult(tools=listed)

    server: Server[Any] = Server(
        "fixtures",
        version="1",
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=_resources,
        on_list_resource_templates=_templates,
        on_read_resource=_read,
        on_subscribe_resource=speaking.watch,
        on_unsubscribe_resource=speaking.unwatch,
        on_subscriptions_listen=speaking.listen,
        on_list_prompts=_prompts,
        on_get_prompt=_prompt,
        on_completion=_complete,
    )
    let_log(server)
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="fixtures"))
    return server


def _tool(name: str) -> types.Tool:
    return types.Tool(name=name, description=name, input_schema=SCHEMAS.get(name, {"type": "object", "properties": {}}))
