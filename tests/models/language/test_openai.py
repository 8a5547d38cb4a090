"""A chat completions endpoint: what is asked, what is read, and what becomes of servers that know less."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from recollectum.domain.errors import ModelGarbled, ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.domain.message import Json, Role, ToolCall
from recollectum.domain.models.language_model import Finish, Prompt, Reply, Tool, Turn, Usage
from recollectum.models.language.port import LanguageModel
from recollectum.models.registry.language import open_language_model
from recollectum.settings.model import LanguageModelSettings
from tests.models import serving
from tests.models.serving import Asked, Server, in_order

pytestmark = pytest.mark.slow

SETTINGS = LanguageModelSettings(provider="openai", model="m-1", retries=0)
ENVIRON = {"OPENAI_API_KEY": "open-1"}
HELLO = Prompt(turns=(Turn(role=Role.USER, text="hello"),), system="Be brief.")
SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
TOOL = Tool(
    name="remember",
    description="Keep a fact.",
    schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)


def answer(text: str | None, *, finish: str = "stop", usage: object = None, calls: object = None) -> serving.Reply:
    message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    return serving.Reply({"choices": [{"message": message, "finish_reason": finish}], "usage": usage})


def streamed(*events: object, done: bool = True) -> serving.Reply:
    lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"] * done
    return serving.Reply(raw="".join(lines).encode(), headers={"Content-Type": "text/event-stream"}, chunked=True)


def delta(text: str | None = None, *, finish: str | None = None, calls: object = None) -> object:
    change = {"content": text, **({"tool_calls": calls} if calls else {})}
    return {"choices": [{"delta": change, "finish_reason": finish}]}


_open: list[LanguageModel] = []


@pytest.fixture(autouse=True)
def close_models() -> Iterator[None]:
    yield
    while _open:
        _open.pop().close()


def opened(server: Server, settings: LanguageModelSettings = SETTINGS) -> LanguageModel:
    found = open_language_model(settings, ENVIRON, connect=server.connect)
    assert found is not None
    _open.append(found)
    return found


@pytest.mark.feature("A17")
def test_a_prompt_is_asked_whole_and_its_reply_read_whole() -> None:
    call = ToolCall(id="c1", name="remember", args={"text": "tea"})
    turns = (
        Turn(role=Role.USER, text="remember tea"),
        Turn(role=Role.ASSISTANT, text="", tool_calls=(call,)),
        Turn(role=Role.TOOL, text="kept", answers="c1"),
    )
    prompt = replace(HELLO, turns=turns, tools=(TOOL,), max_output_tokens=7, idempotency_id="job 1\n")
    with serving.serving(in_order(answer("Done.", usage={"prompt_tokens": 11, "completion_tokens": 2}))) as server:
        reply = opened(server).complete(prompt)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer open-1"
    assert len(asked.headers["idempotency-key"]) == 32
    assert asked.body == {
        "model": "m-1",
        "max_completion_tokens": 7,
        "temperature": 0.0,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "remember tea"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "remember", "arguments": '{"text": "tea"}'}}
                ],
            },
            {"role": "tool", "content": "kept", "tool_call_id": "c1"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "remember", "description": "Keep a fact.", "parameters": TOOL.schema},
            }
        ],
    }
    assert (reply.text, reply.finish, reply.usage) == ("Done.", Finish.STOP, Usage(input=11, output=2))
    assert str(reply.by) == "openai/m-1"


def test_usage_that_the_server_does_not_tell_is_estimated_and_says_so() -> None:
    with serving.serving(in_order(answer("four words of text"))) as server:
        usage = opened(server).complete(HELLO).usage
    assert usage.estimated
    assert usage.input > 0
    assert usage.output > 0


def test_tool_calls_are_read() -> None:
    function = {"name": "remember", "arguments": '{"text": "tea"}'}
    with serving.serving(in_order(answer(None, calls=[{"id": "c9", "function": function}]))) as server:
        reply = opened(server).complete(HELLO)
    assert reply.tool_calls == (ToolCall(id="c9", name="remember", args={"text": "tea"}),)
    assert reply.finish is Finish.TOOL_CALLS


@pytest.mark.parametrize("arguments", ["{", "[]", "3"])
def test_arguments_that_are_no_object_are_an_error_that_does_not_show_them(arguments: str) -> None:
    calls = [{"id": "c", "function": {"name": "remember", "arguments": arguments}}]
    with (
        serving.serving(in_order(answer(None, calls=calls))) as server,
        pytest.raises(ModelGarbled, match=r"^openai/m-1 called a tool with"),
    ):
        opened(server).complete(replace(HELLO, tools=(TOOL,)))


@pytest.mark.feature("A17")
def test_a_stream_is_handed_on_as_it_comes_and_ends_with_the_whole_reply() -> None:
    usage: object = {"choices": list[object](), "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    reply = streamed(delta(""), delta("Good "), delta("day"), delta(finish="stop"), usage)
    with serving.serving(in_order(reply)) as server:
        pieces = list(opened(server).stream(HELLO))
    assert [piece.text for piece in pieces] == ["Good ", "day", ""]
    last = pieces[-1].reply
    assert last is not None
    assert (last.text, last.finish, last.usage) == ("Good day", Finish.STOP, Usage(input=3, output=2))
    assert server.asked[0].body["stream"] is True


def test_tool_calls_of_a_stream_are_put_together() -> None:
    parts = [
        delta(calls=[{"index": 0, "id": "c1", "function": {"name": "remember", "arguments": '{"te'}}]),
        delta(calls=[{"index": 0, "function": {"arguments": 'xt": "tea"}'}}]),
        delta(finish="tool_calls"),
    ]
    with serving.serving(in_order(streamed(*parts))) as server:
        (piece,) = opened(server).stream(replace(HELLO, tools=(TOOL,)))
    assert piece.reply is not None
    assert piece.reply.tool_calls == (ToolCall(id="c1", name="remember", args={"text": "tea"}),)


def test_a_stream_may_take_longer_than_a_call_as_long_as_it_keeps_coming() -> None:
    whole = streamed(delta("a", finish="stop"))
    slow = replace(whole, drip=True, chunked=False)
    with serving.serving(in_order(slow)) as server:
        model = opened(server, replace(SETTINGS, timeout_seconds=0.5))
        assert [piece.text for piece in model.stream(HELLO)] == ["a", ""]
        with pytest.raises(ModelTimeout, match=r"api\.openai\.com did not answer within 0\.5 s"):
            model.complete(HELLO)


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (streamed(delta("a"), done=False), ModelUnavailable, "broke off in the middle"),
        (streamed(delta("a"), {"error": {"message": "secret"}}), ModelUnavailable, "stopped with an error"),
        (serving.Reply(raw=b"data: {nonsense\n\n"), ModelRefused, "streams something other than JSON"),
        (serving.Reply({"error": "x"}, status=401), ModelRefused, "check the variable OPENAI_API_KEY"),
        (serving.Reply({"error": "x"}, status=404), ModelRefused, "check language_model.model and language_model.base"),
        (serving.Reply(raw=b"data: 3\n\n"), ModelRefused, "did not answer with a reply"),
    ],
)
def test_a_stream_that_is_none_is_one_sentence(reply: serving.Reply, error: type[Exception], said: str) -> None:
    with serving.serving(in_order(reply)) as server, pytest.raises(error, match=said) as raised:
        list(opened(server).stream(HELLO))
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("body", [{}, {"choices": []}, [], 3, {"choices": [{"message": 3}]}, {"choices": None}])
def test_an_answer_that_is_none_is_one_sentence(body: object) -> None:
    with (
        serving.serving(in_order(serving.Reply(body))) as server,
        pytest.raises(ModelRefused, match=r"did not answer with a reply; check language_model\.base_url"),
    ):
        opened(server).complete(HELLO)


def refusing(*words: str) -> serving.Script:
    """A server that refuses any body in which one of the words stands."""

    def script(asked: Asked) -> serving.Reply:
        known = json.dumps({key: value for key, value in asked.body.items() if key != "messages"})
        if any(word in known for word in words):
            return serving.Reply({"error": "unknown field"}, status=400)
        return answer('{"name": "Ada"}')

    return script


@pytest.mark.feature("A5")
@pytest.mark.parametrize(
    ("refused", "calls"),
    [((), 1), (("temperature",), 2), (("json_schema",), 3), (("response_format",), 4)],
)
def test_a_server_that_knows_less_is_asked_for_less_and_that_is_kept_in_mind(
    refused: tuple[str, ...], calls: int
) -> None:
    with serving.serving(refusing(*refused)) as server:
        model = opened(server)
        assert model.complete(replace(HELLO, schema=SCHEMA)).value == {"name": "Ada"}
        assert len(server.asked) == calls
        assert model.complete(replace(HELLO, schema=SCHEMA)).value == {"name": "Ada"}
        assert len(server.asked) == calls + 1
    told = "fits this schema" in json.dumps(server.asked[-1].body["messages"])
    assert told == any("json" in word or "format" in word for word in refused)


def test_what_is_refused_in_every_manner_is_refused() -> None:
    with (
        serving.serving(refusing("model")) as server,
        pytest.raises(ModelRefused, match=r"refused the request \(400\); check language_model\.model"),
    ):
        opened(server).complete(replace(HELLO, schema=SCHEMA))
    assert len(server.asked) == 4


@pytest.mark.feature("A17")
def test_a_busy_server_is_asked_again_and_a_bad_key_is_not() -> None:
    busy = serving.Reply(status=503, headers={"Retry-After": "0"})
    with serving.serving(in_order(busy, answer("here"))) as server:
        assert opened(server, replace(SETTINGS, retries=1)).complete(HELLO).text == "here"
        assert len(server.asked) == 2
    with serving.serving(in_order(serving.Reply(status=401))) as server, pytest.raises(ModelRefused):
        opened(server, replace(SETTINGS, retries=3)).complete(HELLO)
    assert len(server.asked) == 1


def test_a_stream_is_begun_again_before_its_first_piece_and_never_after() -> None:
    busy = serving.Reply(status=503)
    with serving.serving(in_order(busy, streamed(delta("a", finish="stop")))) as server:
        assert len(list(opened(server, replace(SETTINGS, retries=1)).stream(HELLO))) == 2
    with (
        serving.serving(in_order(streamed(delta("a"), done=False))) as server,
        pytest.raises(ModelUnavailable),
    ):
        list(opened(server, replace(SETTINGS, retries=3)).stream(HELLO))
    assert len(server.asked) == 1


def test_only_so_many_calls_run_at_once() -> None:
    together = Barrier(2)

    def script(_: Asked) -> serving.Reply:
        # One at a time would wait in vain, and a third at once would need a third connection.
        together.wait(20)
        return answer("yes")

    with serving.serving(script) as server, ThreadPoolExecutor(6) as pool:
        model = opened(server, replace(SETTINGS, concurrency=2))
        replies = list(pool.map(model.complete, [HELLO] * 6))
    assert [reply.text for reply in replies] == ["yes"] * 6
    assert server.connections == 2


def test_a_stream_that_is_abandoned_makes_room_for_the_next() -> None:
    with serving.serving(in_order(streamed(delta("a"), delta("b", finish="stop")))) as server:
        model = opened(server, replace(SETTINGS, concurrency=1))
        for _ in range(3):
            pieces = model.stream(HELLO)
            assert next(pieces).text == "a"
            del pieces


def test_a_text_with_half_a_character_is_sent_all_the_same() -> None:
    with serving.serving(in_order(answer("ok"))) as server:
        reply: Reply = opened(server).complete(replace(HELLO, turns=(Turn(role=Role.USER, text="a\ud83d\x00b"),)))
    assert reply.text == "ok"
