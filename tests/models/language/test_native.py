"""Anthropic's and Gemini's own protocols: what is asked, what is read, and what becomes of models that know less."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from recollectum.domain.errors import ModelGarbled, ModelRefused, ModelUnavailable
from recollectum.domain.message import Json, Role, ToolCall
from recollectum.domain.models.language_model import Finish, Prompt, Tool, Turn, Usage
from recollectum.models.language.port import LanguageModel
from recollectum.models.registry.language import open_language_model
from recollectum.settings.model import LanguageModelSettings
from tests.models import serving
from tests.models.serving import Asked, Server, in_order

KEYS = {"ANTHROPIC_API_KEY": "ant-1", "GEMINI_API_KEY": "gem-1"}
CLAUDE = LanguageModelSettings(provider="anthropic", model="claude-x", retries=0)
GEMINI = LanguageModelSettings(provider="gemini", model="gemini-x", retries=0)
HELLO = Prompt(turns=(Turn(role=Role.USER, text="hello"),), system="Be brief.")
SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 2}},
    "required": ["names"],
    "additionalProperties": False,
}
TOOL = Tool(
    name="remember",
    description="Keep a fact.",
    schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
CALLS = (ToolCall(id="c.1", name="remember", args={"text": "tea"}), ToolCall(id="c2", name="remember", args={}))
USED = replace(
    HELLO,
    turns=(
        Turn(role=Role.USER, text="remember tea"),
        Turn(role=Role.ASSISTANT, text="", tool_calls=CALLS),
        Turn(role=Role.TOOL, text="kept", answers="c.1"),
        Turn(role=Role.TOOL, text="", answers="c2"),
        Turn(role=Role.USER, text="and?"),
    ),
    tools=(TOOL,),
    max_output_tokens=7,
)

_open: list[LanguageModel] = []


@pytest.fixture(autouse=True)
def close_models() -> Iterator[None]:
    yield
    while _open:
        _open.pop().close()


def opened(server: Server, settings: LanguageModelSettings) -> LanguageModel:
    found = open_language_model(settings, KEYS, connect=server.connect)
    assert found is not None
    _open.append(found)
    return found


def body(asked: Asked) -> dict[str, Any]:
    return cast("dict[str, Any]", asked.body)


def message(*blocks: object, stop: str = "end_turn", usage: object = None) -> serving.Reply:
    """A whole answer of Anthropic's."""
    counted = {"input_tokens": 9, "output_tokens": 2} if usage is None else usage
    return serving.Reply(
        {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": list(blocks),
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": counted,
        }
    )


def text(said: str) -> object:
    return {"type": "text", "text": said, "citations": None}


def content(*parts: object, finish: str = "STOP", usage: object = None) -> serving.Reply:
    """A whole answer of Gemini's."""
    counted = {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11} if usage is None else usage
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    return serving.Reply({"candidates": [candidate], "usageMetadata": counted, "modelVersion": "gemini-x"})


def streamed(*events: object) -> serving.Reply:
    lines = [f"event: x\ndata: {json.dumps(event)}\n\n" for event in events]
    return serving.Reply(raw="".join(lines).encode(), headers={"Content-Type": "text/event-stream"}, chunked=True)


@pytest.mark.feature("A17")
def test_anthropic_is_asked_in_its_own_words() -> None:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 2}
    with serving.serving(in_order(message(text("Done."), usage=usage))) as server:
        reply = opened(server, CLAUDE).complete(USED)
    (asked,) = server.asked
    assert asked.path == "/v1/messages"
    assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == ("ant-1", "2023-06-01")
    assert "authorization" not in asked.headers
    assert body(asked) == {
        "model": "claude-x",
        "max_tokens": 7,
        "temperature": 0.0,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "remember tea"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c_1", "name": "remember", "input": {"text": "tea"}},
                    {"type": "tool_use", "id": "c2", "name": "remember", "input": {}},
                ],
            },
            # Both results and what follows in one message: otherwise they are refused.
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c_1", "content": "kept"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "-"},
                    {"type": "text", "text": "and?"},
                ],
            },
        ],
        "tools": [{"name": "remember", "description": "Keep a fact.", "input_schema": TOOL.schema}],
    }
    assert (reply.text, reply.finish, reply.usage) == ("Done.", Finish.STOP, Usage(input=12, output=2))


@pytest.mark.feature("A17")
def test_gemini_is_asked_in_its_own_words() -> None:
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 30, "totalTokenCount": 41}
    thinking = {"text": "Let me think.", "thought": True}
    with serving.serving(in_order(content(thinking, {"text": "Done."}, usage=usage))) as server:
        reply = opened(server, GEMINI).complete(USED)
    (asked,) = server.asked
    assert asked.path == "/v1beta/models/gemini-x:generateContent"
    assert asked.headers["x-goog-api-key"] == "gem-1"
    assert "authorization" not in asked.headers
    unsigned = {"thoughtSignature": "skip_thought_signature_validator"}
    assert body(asked) == {
        "contents": [
            {"role": "user", "parts": [{"text": "remember tea"}]},
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"id": "c.1", "name": "remember", "args": {"text": "tea"}}, **unsigned},
                    {"functionCall": {"id": "c2", "name": "remember", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c.1", "name": "remember", "response": {"result": "kept"}}},
                    {"functionResponse": {"id": "c2", "name": "remember", "response": {"result": ""}}},
                    {"text": "and?"},
                ],
            },
        ],
        "generationConfig": {"maxOutputTokens": 7, "temperature": 0.0},
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "remember", "description": "Keep a fact.", "parametersJsonSchema": TOOL.schema}
                ]
            }
        ],
    }
    # What was thought is paid for, and not said.
    assert (reply.text, reply.finish, reply.usage) == ("Done.", Finish.STOP, Usage(input=9, output=32))


def test_a_conversation_that_the_assistant_begins_is_taken() -> None:
    turns = (Turn(role=Role.ASSISTANT, text="Hi."), Turn(role=Role.USER, text=" "))
    with serving.serving(in_order(message(text("ok")), content({"text": "ok"}))) as server:
        opened(server, CLAUDE).complete(Prompt(turns=turns))
        opened(server, GEMINI).complete(Prompt(turns=turns))
    first, second = map(body, server.asked)
    assert [one["role"] for one in first["messages"]] == ["user", "assistant", "user"]
    assert all(block["text"].strip() for one in first["messages"] for block in one["content"])
    assert "system" not in first
    assert [one["role"] for one in second["contents"]] == ["model", "user"]


@pytest.mark.feature("A17")
def test_a_schema_is_kept_by_the_server() -> None:
    prompt = replace(HELLO, schema=SCHEMA)
    with serving.serving(
        in_order(message(text('{"names": ["Ada"]}')), content({"text": '{"names": ["Bo"]}'}))
    ) as server:
        assert opened(server, CLAUDE).complete(prompt).value == {"names": ["Ada"]}
        assert opened(server, GEMINI).complete(prompt).value == {"names": ["Bo"]}
    first, second = map(body, server.asked)
    # Without what its schemas do not know.
    names = {"type": "array", "items": {"type": "string"}}
    assert first["output_config"] == {
        "format": {"type": "json_schema", "schema": {**SCHEMA, "properties": {"names": names}}}
    }
    assert second["generationConfig"]["responseJsonSchema"] == SCHEMA
    assert second["generationConfig"]["responseMimeType"] == "application/json"


def test_what_a_server_does_not_keep_of_a_schema_is_checked_here() -> None:
    prompt = replace(HELLO, schema=SCHEMA)
    long = message(text('{"names": ["Wilhelmina"]}'))
    with serving.serving(in_order(long, message(text('{"names": ["Mina"]}')))) as server:
        assert opened(server, CLAUDE).complete(prompt).value == {"names": ["Mina"]}
    with serving.serving(in_order(long, long)) as server, pytest.raises(ModelGarbled, match="length"):
        opened(server, CLAUDE).complete(prompt)


def test_an_older_claude_answers_through_a_tool_it_must_use() -> None:
    refuses = serving.Reply({"type": "error", "error": {"type": "invalid_request_error", "message": "?"}}, status=400)
    used = {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": {"names": ["Ada"]}}

    def script(asked: Asked) -> serving.Reply:
        return refuses if "output_config" in asked.body else message(used, stop="tool_use")

    with serving.serving(script) as server:
        model = opened(server, CLAUDE)
        reply = model.complete(replace(HELLO, schema=SCHEMA))
        assert (reply.value, reply.tool_calls, reply.finish) == ({"names": ["Ada"]}, (), Finish.STOP)
        assert body(server.asked[-1])["tool_choice"] == {"type": "tool", "name": "answer"}
        before = len(server.asked)
        model.complete(replace(HELLO, schema=SCHEMA))
        # What worked is begun with.
        assert len(server.asked) == before + 1


def test_a_model_that_takes_no_temperature_is_asked_without() -> None:
    def script(asked: Asked) -> serving.Reply:
        return serving.Reply(status=400) if "temperature" in asked.body else message(text("ok"))

    with serving.serving(script) as server:
        assert opened(server, CLAUDE).complete(HELLO).text == "ok"


def test_tool_calls_are_read_and_a_signature_goes_back_with_its_call() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "remember", "input": {"text": "tea"}}
    call = {"functionCall": {"name": "remember", "args": {"text": "tea"}}, "thoughtSignature": "c2ln"}
    answers = (message(text("I will."), use, stop="tool_use"), content(call), content({"text": "ok"}))
    with serving.serving(in_order(*answers)) as server:
        claude = opened(server, CLAUDE).complete(replace(HELLO, tools=(TOOL,)))
        model = opened(server, GEMINI)
        gemini = model.complete(replace(HELLO, tools=(TOOL,)))
        again = (Turn(role=Role.ASSISTANT, text="", tool_calls=gemini.tool_calls),)
        model.complete(replace(HELLO, turns=HELLO.turns + again, tools=(TOOL,)))
    assert (claude.text, claude.finish) == ("I will.", Finish.TOOL_CALLS)
    assert claude.tool_calls == (ToolCall(id="toolu_1", name="remember", args={"text": "tea"}),)
    assert (gemini.tool_calls[0].name, gemini.tool_calls[0].args) == ("remember", {"text": "tea"})
    assert gemini.finish is Finish.TOOL_CALLS
    assert body(server.asked[-1])["contents"][1]["parts"][0]["thoughtSignature"] == "c2ln"


def test_anthropic_streams() -> None:
    events = (
        {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": text("")},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I "}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "will."}},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "t1", "name": "remember"},
        },
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"text":'}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ' "tea"}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    )
    with serving.serving(in_order(streamed(*events))) as server:
        *pieces, last = opened(server, CLAUDE).stream(replace(HELLO, tools=(TOOL,)))
    assert body(server.asked[0])["stream"] is True
    assert [piece.text for piece in pieces] == ["I ", "will."]
    assert last.reply is not None
    assert (last.reply.text, last.reply.usage) == ("I will.", Usage(input=9, output=20))
    assert last.reply.tool_calls == (ToolCall(id="t1", name="remember", args={"text": "tea"}),)


def test_gemini_streams() -> None:
    def part(said: str, finish: str | None = None) -> object:
        candidate = {"content": {"parts": [{"text": said}]}, **({"finishReason": finish} if finish else {})}
        return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": len(said)}}

    with serving.serving(in_order(streamed(part("I "), part("will.", "STOP")))) as server:
        *pieces, last = opened(server, GEMINI).stream(HELLO)
    assert server.asked[0].path == "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
    assert [piece.text for piece in pieces] == ["I ", "will."]
    assert last.reply is not None
    assert (last.reply.text, last.reply.usage, last.reply.finish) == ("I will.", Usage(input=4, output=5), Finish.STOP)


@pytest.mark.parametrize("settings", [CLAUDE, GEMINI])
def test_a_stream_that_breaks_off_is_no_reply(settings: LanguageModelSettings) -> None:
    half = (
        {"type": "content_block_start", "index": 0, "content_block": text("I ")}
        if settings is CLAUDE
        else {"candidates": [{"content": {"parts": [{"text": "I "}]}}]}
    )
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "hunter2"}}
    for events in ((half,), (half, failed)):
        with serving.serving(in_order(streamed(*events))) as server, pytest.raises(ModelUnavailable) as caught:
            list(opened(server, settings).stream(HELLO))
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "reply", "finish"),
    [
        (CLAUDE, message(text("so"), stop="max_tokens"), Finish.LENGTH),
        (CLAUDE, message(stop="refusal"), Finish.FILTERED),
        (CLAUDE, message(text("?"), stop="pause_turn"), Finish.UNKNOWN),
        (GEMINI, content({"text": "so"}, finish="MAX_TOKENS"), Finish.LENGTH),
        (GEMINI, content(finish="PROHIBITED_CONTENT"), Finish.FILTERED),
        (GEMINI, serving.Reply({"promptFeedback": {"blockReason": "SAFETY"}}), Finish.FILTERED),
        (GEMINI, content(finish="MALFORMED_FUNCTION_CALL"), Finish.UNKNOWN),
    ],
)
def test_why_a_reply_ended(settings: LanguageModelSettings, reply: serving.Reply, finish: Finish) -> None:
    with serving.serving(in_order(reply)) as server:
        assert opened(server, settings).complete(HELLO).finish is finish


@pytest.mark.parametrize("settings", [CLAUDE, GEMINI])
@pytest.mark.parametrize(
    "wrong", ["{}", "[]", '{"content": 3}', '{"candidates": []}', '{"choices": [{"message": {}}]}']
)
def test_what_is_no_answer_is_refused(settings: LanguageModelSettings, wrong: str) -> None:
    with (
        serving.serving(in_order(serving.Reply(raw=wrong.encode()))) as server,
        pytest.raises(ModelRefused, match="base_url"),
    ):
        opened(server, settings).complete(HELLO)


@pytest.mark.parametrize(("settings", "variable"), [(CLAUDE, "ANTHROPIC_API_KEY"), (GEMINI, "GEMINI_API_KEY")])
def test_errors_are_ours_and_say_which_key(settings: LanguageModelSettings, variable: str) -> None:
    said = {"error": {"message": "hunter2", "status": "x"}}
    wrong_key = pytest.raises(ModelRefused, match=f"check the variable {variable}")
    with serving.serving(in_order(serving.Reply(said, status=401))) as server, wrong_key as caught:
        opened(server, settings).complete(HELLO)
    assert "hunter2" not in str(caught.value)
    with serving.serving(in_order(serving.Reply(said, status=529))) as server, pytest.raises(ModelUnavailable):
        opened(server, settings).complete(HELLO)
    with pytest.raises(ModelRefused, match=f"{variable} is not set"):
        open_language_model(settings, {})


@pytest.mark.parametrize("settings", [CLAUDE, GEMINI])
def test_what_is_not_counted_is_estimated(settings: LanguageModelSettings) -> None:
    reply = message(text("ok"), usage={}) if settings is CLAUDE else content({"text": "ok"}, usage={})
    with serving.serving(in_order(reply)) as server:
        assert opened(server, settings).complete(HELLO).usage.estimated


def test_another_address_is_not_handed_the_key() -> None:
    settings = replace(CLAUDE, base_url="https://proxy.example/anthropic/v1")
    with serving.serving(in_order(message(text("ok")))) as server:
        opened(server, settings).complete(HELLO)
    (asked,) = server.asked
    assert asked.path == "/anthropic/v1/messages"
    assert "x-api-key" not in asked.headers
    assert asked.headers["anthropic-version"] == "2023-06-01"
