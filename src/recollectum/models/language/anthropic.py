"""Anthropic's dialect for messages: requests and replies."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import cast

from recollectum.domain.errors import ModelGarbled, ModelUnavailable
from recollectum.domain.message import Json, ToolCall
from recollectum.domain.models.chat_formats import anthropic_messages
from recollectum.domain.models.language_model import Finish, ModelIdentity, Prompt, Reply, Tool, Usage
from recollectum.domain.records import dataclass
from recollectum.models.language.costs import estimated_usage
from recollectum.models.language.json_schema import drop_keywords
from recollectum.models.language.openai import (
    PartialReply,
    RequestStyle,
    ResponseFormat,
    cleaned_turns,
    instructions_with_schema,
)
from recollectum.text.cleaning import clean

#: The tool through which an older model gives an answer that must fit a schema.
ANSWER = "answer"
_FINISHES = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "tool_use": Finish.TOOL_CALLS,
    "refusal": Finish.FILTERED,
}
#: Tokens read from a cache or written to one are counted as input too.
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_Members = Mapping[str, object]


@dataclass(slots=True)
class _Block:
    """A text, or a tool call whose arguments arrive in pieces."""

    kind: str
    id: str = ""
    name: str = ""
    text: str = ""


@dataclass(slots=True)
class PartialMessage:
    """A reply that is still arriving."""

    finish: str | None = None
    counted: dict[str, int] = field(default_factory=dict[str, int])
    blocks: dict[int, _Block] = field(default_factory=dict[int, _Block])

    def add(self, event: object) -> str:
        """Add one event, and return the text that it adds."""
        members = cast("_Members", event)
        match members["type"]:
            case "message_start":
                self._count(cast("_Members", members["message"]).get("usage"))
            case "content_block_start":
                return self._begin(cast("int", members["index"]), cast("_Members", members["content_block"]))
            case "content_block_delta":
                return self._extend(cast("int", members["index"]), cast("_Members", members["delta"]))
            case "message_delta":
                self.end(cast("_Members", members["delta"]), members.get("usage"))
            case "error":
                raise ModelUnavailable("the model stopped with an error; try again later")
            case _:
                # A ping, the end of a block, or an event of a later version.
                pass
        return ""

    def end(self, members: _Members, usage: object) -> None:
        """Record why the reply ended, and its usage."""
        self.finish = cast("str | None", members.get("stop_reason")) or self.finish
        self._count(usage)

    def reply(self, prompt: Prompt, by: ModelIdentity) -> Reply:
        """Return the complete reply."""
        parts = [block for _, block in sorted(self.blocks.items())]
        text = "".join(block.text for block in parts if block.kind == "text")
        called = [block for block in parts if block.kind == "tool_use"]
        finish = _FINISHES.get(self.finish or "", Finish.UNKNOWN)
        if prompt.schema is not None and (answers := [block.text for block in called if block.name == ANSWER]):
            text, called = answers[0], []
            finish = Finish.STOP if finish is Finish.TOOL_CALLS else finish
        written = "".join(block.text for block in parts)
        return Reply(
            text=text,
            tool_calls=tuple(_tool_call(block, by) for block in called),
            usage=self._usage() or estimated_usage(prompt, written),
            finish=finish,
            by=by,
        )

    def _begin(self, index: int, block: _Members) -> str:
        name, given = cast("str", block.get("name") or ""), cast("str", block.get("id") or "")
        self.blocks[index] = _Block(str(block["type"]), id=given, name=name, text=cast("str", block.get("text") or ""))
        arguments = block.get("input")
        if arguments:
            self.blocks[index].text = json.dumps(arguments)
        return self.blocks[index].text if self.blocks[index].kind == "text" else ""

    def _extend(self, index: int, delta: _Members) -> str:
        # Other deltas, such as thinking, are not part of the text.
        piece = cast("str", delta.get("text") or delta.get("partial_json") or "")
        block = self.blocks[index]
        block.text += piece
        return piece if block.kind == "text" else ""

    def _count(self, usage: object) -> None:
        found = cast("_Members", usage if isinstance(usage, Mapping) else {})
        self.counted |= {name: count for name, count in found.items() if isinstance(count, int) and count >= 0}

    def _usage(self) -> Usage | None:
        if "input_tokens" not in self.counted or "output_tokens" not in self.counted:
            return None
        return Usage(input=sum(self.counted.get(name, 0) for name in _READ), output=self.counted["output_tokens"])


def parse_message(answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
    """Return the reply of an answer that was not streamed."""
    members = cast("_Members", answer)
    draft = PartialMessage()
    for index, block in enumerate(cast("Sequence[_Members]", members["content"])):
        draft.add({"type": "content_block_start", "index": index, "content_block": block})
    draft.end(members, members.get("usage"))
    return draft.reply(prompt, by)


def _tool_call(block: _Block, by: ModelIdentity) -> ToolCall:
    try:
        args: object = json.loads(block.text or "{}")
    except (ValueError, RecursionError) as error:
        raise ModelGarbled(f"{by} called a tool with arguments that are not JSON; try again") from error
    if not isinstance(args, dict) or not block.name:
        raise ModelGarbled(f"{by} called a tool without a name or with arguments that are not an object; try again")
    return ToolCall(id=block.id, name=block.name, args=cast("dict[str, Json]", args))


BASE_URL = "https://api.anthropic.com/v1"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
_VERSION = "2023-06-01"
#: Keywords that its schemas do not support; a reply is checked against the full schema anyway.
_UNKNOWN = frozenset({"minimum", "maximum", "minLength", "maxLength", "maxItems", "minItems", "pattern"})
_CACHED = {"type": "ephemeral"}


def key_headers(key: str) -> Mapping[str, str]:
    """Return the headers with the API key."""
    return {"x-api-key": key}


@dataclass(frozen=True, slots=True)
class AnthropicDialect:
    """Anthropic's own protocol."""

    def path(self, model: str, *, stream: bool) -> str:  # noqa: ARG002 - the body tells
        """Return the request path, the same for all models."""
        return "/messages"

    def headers(self, prompt: Prompt) -> Mapping[str, str]:  # noqa: ARG002 - the same for every prompt
        """Return the protocol version."""
        return {"anthropic-version": _VERSION}

    def body(self, prompt: Prompt, model: str, max_output_tokens: int, manner: RequestStyle, *, stream: bool) -> object:
        """Return the request body."""
        asked: dict[str, object] = {
            "model": model,
            "max_tokens": prompt.max_output_tokens or max_output_tokens,
            "messages": anthropic_messages(cleaned_turns(prompt)),
        }
        system = instructions_with_schema(prompt) if manner.shape is ResponseFormat.WORDS else clean(prompt.system)
        if system:
            asked["system"] = [{"type": "text", "text": system, "cache_control": _CACHED}]
        if manner.temperature:
            asked["temperature"] = prompt.temperature
        if prompt.tools:
            asked["tools"] = [_tool(tool) for tool in prompt.tools]
        if stream:
            asked["stream"] = True
        return asked | _form(prompt, manner.shape)

    def draft(self) -> PartialReply:
        """Return an empty reply."""
        return PartialMessage()

    def whole(self, answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
        """Return the reply."""
        return parse_message(answer, prompt, by)


def _form(prompt: Prompt, shape: ResponseFormat) -> dict[str, object]:
    """Return the fields that set the form of the answer: a schema, or for older models a single forced tool."""
    if prompt.schema is None or shape is ResponseFormat.WORDS:
        return {}
    schema = drop_keywords(prompt.schema, _UNKNOWN)
    if shape is ResponseFormat.SCHEMA:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    tools = [*map(_tool, prompt.tools), {"name": ANSWER, "description": "Give the answer.", "input_schema": schema}]
    return {"tools": tools, "tool_choice": {"type": "tool", "name": ANSWER}}


def _tool(tool: Tool) -> object:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
