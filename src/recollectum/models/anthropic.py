"""The dialect of Anthropic's messages: what is posted.

Its endpoint for OpenAI's dialect takes a response format without heeding it and knows nothing of prompt caches; here
the form of an answer is kept by the server, and the instructions are read from the cache the second time.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recollectum.domain.language_model import ModelIdentity, Prompt, Reply, Tool, Turn
from recollectum.domain.message import Role
from recollectum.models.anthropic_answer import ANSWER, Draft, whole
from recollectum.models.chat_body import Manner, Shape, in_words
from recollectum.models.dialects import Drafting
from recollectum.models.loosening import loosened
from recollectum.text.cleaning import clean

BASE_URL = "https://api.anthropic.com/v1"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
_VERSION = "2023-06-01"
#: What its schemas do not know; a reply is held against the whole schema all the same.
_UNKNOWN = frozenset({"minimum", "maximum", "minLength", "maxLength", "maxItems", "minItems"})
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]")
_CACHED = {"type": "ephemeral"}
#: What stands for a text that is empty, which it refuses.
_NOTHING = "-"


def key_headers(key: str) -> Mapping[str, str]:
    """How the key is shown to the server."""
    return {"x-api-key": key}


@dataclass(frozen=True, slots=True)
class Messages:
    """Anthropic's own protocol."""

    def path(self, model: str, *, stream: bool) -> str:  # noqa: ARG002 - the body tells
        """One place for everything."""
        return "/messages"

    def headers(self, prompt: Prompt) -> Mapping[str, str]:  # noqa: ARG002 - the same for every prompt
        """The version of the protocol."""
        return {"anthropic-version": _VERSION}

    def body(self, prompt: Prompt, model: str, max_output_tokens: int, manner: Manner, *, stream: bool) -> object:
        """What is posted."""
        asked: dict[str, object] = {
            "model": model,
            "max_tokens": prompt.max_output_tokens or max_output_tokens,
            "messages": list(_merged(prompt)),
        }
        system = in_words(prompt) if manner.shape is Shape.WORDS else clean(prompt.system)
        if system:
            asked["system"] = [{"type": "text", "text": system, "cache_control": _CACHED}]
        if manner.temperature:
            asked["temperature"] = prompt.temperature
        if prompt.tools:
            asked["tools"] = [_tool(tool) for tool in prompt.tools]
        if stream:
            asked["stream"] = True
        return asked | _form(prompt, manner.shape)

    def draft(self) -> Drafting:
        """An empty reply."""
        return Draft()

    def whole(self, answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
        """The reply."""
        return whole(answer, prompt, by)


def _form(prompt: Prompt, shape: Shape) -> dict[str, object]:
    """How the form of the answer is told: by a schema, or to older models as the one tool that they must use."""
    if prompt.schema is None or shape is Shape.WORDS:
        return {}
    schema = loosened(prompt.schema, _UNKNOWN)
    if shape is Shape.SCHEMA:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    tools = [*map(_tool, prompt.tools), {"name": ANSWER, "description": "Give the answer.", "input_schema": schema}]
    return {"tools": tools, "tool_choice": {"type": "tool", "name": ANSWER}}


def _merged(prompt: Prompt) -> Iterator[object]:
    """The turns, those of one side in a row as one: all results of tools must come in one message."""
    role, blocks = "user", list[object]()
    if prompt.turns and prompt.turns[0].role is Role.ASSISTANT:
        # The person must have begun.
        blocks.append({"type": "text", "text": _NOTHING})
    for turn in prompt.turns:
        speaker = "assistant" if turn.role is Role.ASSISTANT else "user"
        if speaker != role and blocks:
            yield {"role": role, "content": blocks}
            blocks = []
        role = speaker
        blocks += _blocks(turn)
    yield {"role": role, "content": blocks or [{"type": "text", "text": _NOTHING}]}


def _blocks(turn: Turn) -> Iterator[object]:
    text = clean(turn.text)
    if turn.role is Role.TOOL:
        yield {"type": "tool_result", "tool_use_id": _id(turn.answers), "content": text or _NOTHING}
        return
    if text.strip():
        yield {"type": "text", "text": text}
    for call in turn.tool_calls:
        yield {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": call.args}


def _id(given: str) -> str:
    # A conversation may have begun with another provider, whose ids are not taken here.
    return _NOT_IN_AN_ID.sub("_", given)


def _tool(tool: Tool) -> object:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
