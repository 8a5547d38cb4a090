"""The dialect of Gemini's content: what is posted.

Its endpoint for OpenAI's dialect does not say what thinking cost, which is paid for, and loses the signatures of tool
calls, without which newer models refuse what follows them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from recollectum.domain.language_model import ModelIdentity, Prompt, Reply, Tool, Turn
from recollectum.domain.message import Role, ToolCall
from recollectum.models.chat_body import Manner, Shape, in_words
from recollectum.models.dialects import Drafting
from recollectum.models.gemini_answer import SIGNATURE, Draft, whole
from recollectum.text.cleaning import clean

_NOTHING = "-"
#: What stands in the place of a signature that another model's call never had.
_UNSIGNED = "skip_thought_signature_validator"


@dataclass(frozen=True, slots=True)
class Content:
    """Gemini's own protocol."""

    def path(self, model: str, *, stream: bool) -> str:
        """A place for each model."""
        return f"/models/{quote(model)}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"

    def headers(self, prompt: Prompt) -> Mapping[str, str]:  # noqa: ARG002 - there are none
        """Nothing beside the key."""
        return {}

    def body(self, prompt: Prompt, model: str, max_output_tokens: int, manner: Manner, *, stream: bool) -> object:  # noqa: ARG002 - the path tells
        """What is posted."""
        bounds: dict[str, object] = {"maxOutputTokens": prompt.max_output_tokens or max_output_tokens}
        if manner.temperature:
            bounds["temperature"] = prompt.temperature
        if prompt.schema is not None and manner.shape is not Shape.WORDS:
            bounds["responseMimeType"] = "application/json"
        if prompt.schema is not None and manner.shape is Shape.SCHEMA:
            bounds["responseJsonSchema"] = prompt.schema
        asked: dict[str, object] = {"contents": list(_merged(prompt)), "generationConfig": bounds}
        system = clean(prompt.system) if manner.shape is Shape.SCHEMA else in_words(prompt)
        if system:
            asked["systemInstruction"] = {"parts": [{"text": system}]}
        if prompt.tools:
            asked["tools"] = [{"functionDeclarations": [_tool(tool) for tool in prompt.tools]}]
        return asked

    def draft(self) -> Drafting:
        """An empty reply."""
        return Draft()

    def whole(self, answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
        """The reply."""
        return whole(answer, prompt, by)


def _merged(prompt: Prompt) -> Iterator[object]:
    """The turns, those of one side in a row as one: all results of tools must come together."""
    named = {call.id: call.name for turn in prompt.turns for call in turn.tool_calls}
    role, parts = "user", list[object]()
    for turn in prompt.turns:
        speaker = "model" if turn.role is Role.ASSISTANT else "user"
        if speaker != role and parts:
            yield {"role": role, "parts": parts}
            parts = []
        role = speaker
        parts += _parts(turn, named)
    yield {"role": role, "parts": parts or [{"text": _NOTHING}]}


def _parts(turn: Turn, named: Mapping[str, str]) -> Iterator[object]:
    text = clean(turn.text)
    if turn.role is Role.TOOL:
        name = named.get(turn.answers, turn.answers)
        yield {"functionResponse": {"id": turn.answers, "name": name, "response": {"result": text}}}
        return
    if text:
        yield {"text": text}
    # The first call of a turn bears the signature of all.
    for number, call in enumerate(turn.tool_calls):
        yield _call(call, signed=not number)


def _call(call: ToolCall, *, signed: bool) -> object:
    part: dict[str, object] = {"functionCall": {"id": call.id, "name": call.name, "args": call.args}}
    signature = call.extra.get(SIGNATURE, _UNSIGNED if signed else None)
    return {**part, "thoughtSignature": signature} if signature else part


def _tool(tool: Tool) -> object:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema}
