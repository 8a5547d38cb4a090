"""Gemini's dialect for content: requests and replies."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import cast
from urllib.parse import quote

from recollectum.domain.errors import ModelGarbled, ModelUnavailable
from recollectum.domain.message import Json, ToolCall
from recollectum.domain.models.chat_formats import SIGNATURE, gemini_contents
from recollectum.domain.models.language_model import Finish, ModelIdentity, Prompt, Reply, Tool, Usage
from recollectum.domain.records import dataclass
from recollectum.models.language.costs import estimated_usage
from recollectum.models.language.openai import (
    PartialReply,
    RequestStyle,
    ResponseFormat,
    cleaned_turns,
    instructions_with_schema,
)
from recollectum.text.cleaning import clean

_FILTERED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY"})
_BLOCKED = "SAFETY"
_Members = Mapping[str, object]


@dataclass(slots=True)
class PartialContent:
    """A reply that is still arriving."""

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None
    calls: list[_Members] = field(default_factory=list[_Members])

    def add(self, event: object) -> str:
        """Add one event, and return the text that it adds."""
        members = cast("_Members", event)
        if "error" in members:
            raise ModelUnavailable("the model stopped with an error; try again later")
        self.usage = _usage(members.get("usageMetadata")) or self.usage
        feedback = cast("_Members", members.get("promptFeedback") or {})
        if feedback.get("blockReason"):
            self.finish = _BLOCKED
        candidates = cast("Sequence[_Members]", members.get("candidates") or ())
        if not candidates:
            return ""
        self.finish = cast("str | None", candidates[0].get("finishReason")) or self.finish
        content = cast("_Members", candidates[0].get("content") or {})
        parts = cast("Sequence[_Members]", content.get("parts") or ())
        self.calls += [part for part in parts if "functionCall" in part]
        # Thoughts are not part of the text.
        said = "".join(cast("str", part.get("text") or "") for part in parts if not part.get("thought"))
        self.text += said
        return said

    def reply(self, prompt: Prompt, by: ModelIdentity) -> Reply:
        """Return the complete reply."""
        calls = tuple(_tool_call(number, part, by) for number, part in enumerate(self.calls))
        written = self.text + "".join(map(str, self.calls))
        return Reply(
            text=self.text,
            tool_calls=calls,
            usage=self.usage or estimated_usage(prompt, written),
            finish=Finish.TOOL_CALLS if calls else _finish(self.finish),
            by=by,
        )


def parse_content(answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
    """Return the reply of an answer that was not streamed; without a candidate, the prompt must have been blocked."""
    draft = PartialContent()
    draft.add(answer)
    if draft.finish != _BLOCKED:
        cast("Mapping[str, Sequence[object]]", answer)["candidates"][0]
    return draft.reply(prompt, by)


def _finish(said: str | None) -> Finish:
    if said in _FILTERED:
        return Finish.FILTERED
    return {"STOP": Finish.STOP, "MAX_TOKENS": Finish.LENGTH}.get(said or "", Finish.UNKNOWN)


def _usage(found: object) -> Usage | None:
    counted = cast("_Members", found if isinstance(found, Mapping) else {})
    read = counted.get("promptTokenCount")
    # Thinking is billed as output, though it is not shown.
    written = [counted.get(name, 0) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    if not isinstance(read, int) or read < 0 or not all(isinstance(one, int) and one >= 0 for one in written):
        return None
    return Usage(input=read, output=sum(cast("list[int]", written)))


def _tool_call(number: int, part: _Members, by: ModelIdentity) -> ToolCall:
    call = cast("_Members", part["functionCall"])
    name, args = call.get("name"), cast("object", call.get("args") or {})
    if not isinstance(name, str) or not name or not isinstance(args, Mapping):
        raise ModelGarbled(f"{by} called a tool without a name or with arguments that are not an object; try again")
    signature = part.get("thoughtSignature")
    return ToolCall(
        id=cast("str", call.get("id") or f"call_{number}"),
        name=name,
        args=cast("Mapping[str, Json]", args),
        extra={SIGNATURE: signature} if isinstance(signature, str) else {},
    )


@dataclass(frozen=True, slots=True)
class GeminiDialect:
    """Gemini's own protocol."""

    def path(self, model: str, *, stream: bool) -> str:
        """Return the request path, which contains the model."""
        return f"/models/{quote(model)}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"

    def headers(self, prompt: Prompt) -> Mapping[str, str]:  # noqa: ARG002 - there are none
        """Return no headers besides the key."""
        return {}

    def body(self, prompt: Prompt, model: str, max_output_tokens: int, manner: RequestStyle, *, stream: bool) -> object:  # noqa: ARG002 - the path tells
        """Return the request body."""
        bounds: dict[str, object] = {"maxOutputTokens": prompt.max_output_tokens or max_output_tokens}
        if manner.temperature:
            bounds["temperature"] = prompt.temperature
        if prompt.schema is not None and manner.shape is not ResponseFormat.WORDS:
            bounds["responseMimeType"] = "application/json"
        if prompt.schema is not None and manner.shape is ResponseFormat.SCHEMA:
            bounds["responseJsonSchema"] = prompt.schema
        asked: dict[str, object] = {"contents": gemini_contents(cleaned_turns(prompt)), "generationConfig": bounds}
        system = clean(prompt.system) if manner.shape is ResponseFormat.SCHEMA else instructions_with_schema(prompt)
        if system:
            asked["systemInstruction"] = {"parts": [{"text": system}]}
        if prompt.tools:
            asked["tools"] = [{"functionDeclarations": [_tool(tool) for tool in prompt.tools]}]
        return asked

    def draft(self) -> PartialReply:
        """Return an empty reply."""
        return PartialContent()

    def whole(self, answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
        """Return the reply."""
        return parse_content(answer, prompt, by)


def _tool(tool: Tool) -> object:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema}
