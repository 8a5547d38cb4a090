"""OpenAI's chat completions, request and reply, and the protocol that every chat dialect implements."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from hashlib import blake2b
from typing import Protocol, cast

from recollectum.domain.errors import ModelGarbled, ModelRefused, ModelUnavailable
from recollectum.domain.message import Json, ToolCall
from recollectum.domain.models.chat_formats import openai_messages
from recollectum.domain.models.language_model import Finish, ModelIdentity, Prompt, Reply, Tool, Turn, Usage
from recollectum.domain.records import dataclass
from recollectum.models.language.costs import estimated_usage
from recollectum.text.cleaning import clean

PATH = "/chat/completions"


class ResponseFormat(StrEnum):
    """The ways to tell a server the form of the answer, strictest first."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStyle:
    """The features that a server supports; not all servers support all."""

    shape: ResponseFormat = ResponseFormat.SCHEMA
    #: Whether the temperature may be sent.
    temperature: bool = True
    #: The name of the field that limits the reply.
    limit_name: str = "max_tokens"


def completion_body(
    prompt: Prompt, model: str, max_output_tokens: int, manner: RequestStyle, *, stream: bool = False
) -> dict[str, object]:
    """Return the request body."""
    asked: dict[str, object] = {
        "model": model,
        "messages": _messages(prompt, manner.shape),
        manner.limit_name: prompt.max_output_tokens or max_output_tokens,
    }
    if manner.temperature:
        asked["temperature"] = prompt.temperature
    if prompt.tools:
        asked["tools"] = [_tool(tool) for tool in prompt.tools]
    if prompt.schema is not None and manner.shape is not ResponseFormat.WORDS:
        asked["response_format"] = _format(prompt, manner.shape)
    if stream:
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
    return asked


def idempotency_headers(prompt: Prompt) -> Mapping[str, str]:
    """Return the header with the idempotency key."""
    if not prompt.idempotency_id:
        return {}
    # A digest, so that the server learns nothing of ours and no strange character gets into a header.
    return {"Idempotency-Key": blake2b(prompt.idempotency_id.encode(), digest_size=16).hexdigest()}


def instructions_with_schema(prompt: Prompt) -> str:
    """Return the instructions, with the form of the answer in words if it has one."""
    system = clean(prompt.system)
    if prompt.schema is None:
        return system
    schema = json.dumps(prompt.schema, ensure_ascii=False)
    wanted = f"Answer with one JSON value and nothing else, which fits this schema: {schema}"
    return f"{system}\n\n{wanted}" if system else wanted


def cleaned_turns(prompt: Prompt) -> list[Turn]:
    """Return the turns without characters that servers reject."""
    return [replace(turn, text=clean(turn.text)) for turn in prompt.turns]


def _messages(prompt: Prompt, shape: ResponseFormat) -> list[object]:
    system = clean(prompt.system) if shape is ResponseFormat.SCHEMA else instructions_with_schema(prompt)
    first: list[object] = [{"role": "system", "content": system}] if system else []
    return first + openai_messages(cleaned_turns(prompt))


def _tool(tool: Tool) -> object:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _format(prompt: Prompt, shape: ResponseFormat) -> object:
    if shape is ResponseFormat.OBJECT:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": prompt.schema, "strict": True}}


_FINISHES = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "tool_calls": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
    "content_filter": Finish.FILTERED,
}
#: What Python raises for an invalid answer.
NOT_AN_ANSWER = (KeyError, TypeError, AttributeError, IndexError, ValueError)
_Members = Mapping[str, object]


@dataclass(slots=True)
class _Call:
    """A tool call whose arguments arrive in pieces."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class PartialCompletion:
    """A reply that is still arriving."""

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None
    calls: dict[int, _Call] = field(default_factory=dict[int, _Call])

    def add(self, event: object) -> str:
        """Add one event, and return the text that it adds."""
        members = cast("_Members", event)
        if "error" in members:
            raise ModelUnavailable("the model stopped with an error; try again later")
        self.usage = _usage(members.get("usage")) or self.usage
        choices = cast("Sequence[_Members]", members.get("choices") or ())
        if not choices:
            return ""
        self.finish = cast("str | None", choices[0].get("finish_reason")) or self.finish
        delta = cast("_Members", choices[0].get("delta") or choices[0].get("message") or {})
        for number, call in enumerate(cast("Sequence[_Members]", delta.get("tool_calls") or ())):
            self._add_call(number, call)
        text = _content(delta.get("content"))
        self.text += text
        return text

    def _add_call(self, number: int, part: _Members) -> None:
        call = self.calls.setdefault(cast("int", part.get("index", number)), _Call())
        function = cast("Mapping[str, str | None]", part.get("function") or {})
        call.id = cast("str | None", part.get("id")) or call.id
        call.name = function.get("name") or call.name
        call.arguments += function.get("arguments") or ""

    def reply(self, prompt: Prompt, by: ModelIdentity) -> Reply:
        """Return the complete reply."""
        calls = tuple(_tool_call(number, call, by) for number, call in sorted(self.calls.items()))
        written = self.text + "".join(call.arguments for call in self.calls.values())
        finish = _FINISHES.get(self.finish or "", Finish.UNKNOWN)
        return Reply(
            text=self.text,
            tool_calls=calls,
            usage=self.usage or estimated_usage(prompt, written),
            # Some servers send "stop" for tool calls as well.
            finish=Finish.TOOL_CALLS if calls else finish,
            by=by,
        )


def parse_completion(answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
    """Return the reply of an answer that was not streamed; raise an error of NOT_AN_ANSWER if it is invalid."""
    draft = PartialCompletion()
    draft.add(answer)
    # An answer without a choice has added nothing, and is not an empty reply.
    cast("Mapping[str, Sequence[object]]", answer)["choices"][0]
    return draft.reply(prompt, by)


def parse_events(pieces: Iterable[bytes], name: str) -> Iterator[object]:
    """Yield the events of a stream; `name` names the server in errors."""
    for line in _lines(pieces):
        if not line.startswith(b"data:"):
            # A comment that keeps the connection open, or an unused field.
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            return
        try:
            yield json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ModelRefused(f"{name} streams something other than JSON; check language_model.base_url") from error


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    yield rest


def _content(content: object) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = cast("Sequence[Mapping[str, str]]", content)
    return "".join(part.get("text", "") for part in parts)


def _usage(found: object) -> Usage | None:
    if not isinstance(found, Mapping):
        return None
    counted = cast("Mapping[str, object]", found)
    read, written = counted.get("prompt_tokens"), counted.get("completion_tokens")
    if not isinstance(read, int) or not isinstance(written, int) or read < 0 or written < 0 or not read + written:
        return None
    return Usage(input=read, output=written)


def _tool_call(number: int, call: _Call, by: ModelIdentity) -> ToolCall:
    try:
        args: object = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ModelGarbled(f"{by} called a tool with arguments that are not JSON; try again") from error
    if not isinstance(args, dict) or not call.name:
        raise ModelGarbled(f"{by} called a tool without a name or with arguments that are not an object; try again")
    return ToolCall(id=call.id or f"call_{number}", name=call.name, args=cast("dict[str, Json]", args))


class PartialReply(Protocol):
    """A reply that is still arriving."""

    #: The server's reason for the end; None before it.
    finish: str | None

    def add(self, event: object) -> str:
        """Add one event, and return the text that it adds."""
        ...

    def reply(self, prompt: Prompt, by: ModelIdentity) -> Reply:
        """Return the complete reply."""
        ...


class ChatDialect(Protocol):
    """The protocol of one kind of chat endpoint."""

    def path(self, model: str, *, stream: bool) -> str:
        """Return the request path, below the base address."""
        ...

    def headers(self, prompt: Prompt) -> Mapping[str, str]:
        """Return the headers of this protocol, without the key."""
        ...

    def body(self, prompt: Prompt, model: str, max_output_tokens: int, manner: RequestStyle, *, stream: bool) -> object:
        """Return the request body."""
        ...

    def draft(self) -> PartialReply:
        """Return an empty reply that collects events."""
        ...

    def whole(self, answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
        """Return the reply of an answer that was not streamed; raise an error of NOT_AN_ANSWER if it is invalid."""
        ...


@dataclass(frozen=True, slots=True)
class OpenAiDialect:
    """OpenAI's chat completions, which most servers speak."""

    def path(self, model: str, *, stream: bool) -> str:  # noqa: ARG002 - the body tells
        """Return the request path, the same for all models."""
        return PATH

    def headers(self, prompt: Prompt) -> Mapping[str, str]:
        """Return the header with the idempotency key."""
        return idempotency_headers(prompt)

    def body(self, prompt: Prompt, model: str, max_output_tokens: int, manner: RequestStyle, *, stream: bool) -> object:
        """Return the request body."""
        return completion_body(prompt, model, max_output_tokens, manner, stream=stream)

    def draft(self) -> PartialReply:
        """Return an empty reply."""
        return PartialCompletion()

    def whole(self, answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
        """Return the reply."""
        return parse_completion(answer, prompt, by)
