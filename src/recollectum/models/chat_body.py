"""A prompt in the dialect of OpenAI's chat completions, which most servers speak."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from recollectum.domain.language_model import Prompt, Tool, Turn
from recollectum.domain.message import Role, ToolCall
from recollectum.text.cleaning import clean

PATH = "/chat/completions"


class Shape(StrEnum):
    """How a server is told the form of the answer, strictest first."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """What a server takes; not all of them take everything."""

    shape: Shape = Shape.SCHEMA
    #: Whether the temperature may be said.
    temperature: bool = True
    #: What the limit of the reply is called.
    limit_name: str = "max_tokens"


def body(
    prompt: Prompt, model: str, max_output_tokens: int, manner: Manner, *, stream: bool = False
) -> dict[str, object]:
    """What is posted."""
    asked: dict[str, object] = {
        "model": model,
        "messages": _messages(prompt, manner.shape),
        manner.limit_name: prompt.max_output_tokens or max_output_tokens,
    }
    if manner.temperature:
        asked["temperature"] = prompt.temperature
    if prompt.tools:
        asked["tools"] = [_tool(tool) for tool in prompt.tools]
    if prompt.schema is not None and manner.shape is not Shape.WORDS:
        asked["response_format"] = _format(prompt, manner.shape)
    if stream:
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
    return asked


def once(prompt: Prompt) -> Mapping[str, str]:
    """The header that lets a server know a question it was asked before."""
    if not prompt.idempotency_id:
        return {}
    # As a digest, so that nothing of ours is told and nothing strange gets into a header.
    return {"Idempotency-Key": blake2b(prompt.idempotency_id.encode(), digest_size=16).hexdigest()}


def in_words(prompt: Prompt) -> str:
    """The instructions, with the form of the answer in words where it has one."""
    system = clean(prompt.system)
    if prompt.schema is None:
        return system
    schema = json.dumps(prompt.schema, ensure_ascii=False)
    wanted = f"Answer with one JSON value and nothing else, which fits this schema: {schema}"
    return f"{system}\n\n{wanted}" if system else wanted


def _messages(prompt: Prompt, shape: Shape) -> list[object]:
    system = clean(prompt.system) if shape is Shape.SCHEMA else in_words(prompt)
    first: list[object] = [{"role": "system", "content": system}] if system else []
    return first + [_message(turn) for turn in prompt.turns]


def _message(turn: Turn) -> object:
    message: dict[str, object] = {"role": turn.role.value, "content": clean(turn.text)}
    if turn.tool_calls:
        message["tool_calls"] = [_call(call) for call in turn.tool_calls]
    if turn.role is Role.TOOL:
        message["tool_call_id"] = turn.answers
    return message


def _call(call: ToolCall) -> object:
    arguments = json.dumps(call.args, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _tool(tool: Tool) -> object:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _format(prompt: Prompt, shape: Shape) -> object:
    if shape is Shape.OBJECT:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": prompt.schema, "strict": True}}
