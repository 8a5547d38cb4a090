"""What Gemini's content answers, whole or as a stream of events, as a Reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from recollectum.domain.errors import ModelGarbled, ModelUnavailable
from recollectum.domain.language_model import Finish, ModelIdentity, Prompt, Reply, Usage
from recollectum.domain.message import Json, ToolCall
from recollectum.models.costs import estimated_usage

#: Where a call keeps what must be sent back with it.
SIGNATURE = "thought_signature"
_FILTERED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY"})
_BLOCKED = "SAFETY"

_Members = Mapping[str, object]


@dataclass(slots=True)
class Draft:
    """A reply that is still coming in."""

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None
    calls: list[_Members] = field(default_factory=list[_Members])

    def add(self, event: object) -> str:
        """Take one event in, and say what it adds to the text."""
        members = cast("_Members", event)
        if "error" in members:
            raise ModelUnavailable("the model broke off with an error of its own; try again later")
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
        # Thoughts are not part of what is said.
        said = "".join(cast("str", part.get("text") or "") for part in parts if not part.get("thought"))
        self.text += said
        return said

    def reply(self, prompt: Prompt, by: ModelIdentity) -> Reply:
        """The whole of it."""
        calls = tuple(_tool_call(number, part, by) for number, part in enumerate(self.calls))
        written = self.text + "".join(map(str, self.calls))
        return Reply(
            text=self.text,
            tool_calls=calls,
            usage=self.usage or estimated_usage(prompt, written),
            finish=Finish.TOOL_CALLS if calls else _finish(self.finish),
            by=by,
        )


def whole(answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
    """The reply in an answer that came at once; one without a candidate is one only where the prompt was blocked."""
    draft = Draft()
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
    # Thinking is written, and paid for, though nobody sees it.
    written = [counted.get(name, 0) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    if not isinstance(read, int) or read < 0 or not all(isinstance(one, int) and one >= 0 for one in written):
        return None
    return Usage(input=read, output=sum(cast("list[int]", written)))


def _tool_call(number: int, part: _Members, by: ModelIdentity) -> ToolCall:
    call = cast("_Members", part["functionCall"])
    name, args = call.get("name"), cast("object", call.get("args") or {})
    if not isinstance(name, str) or not name or not isinstance(args, Mapping):
        raise ModelGarbled(f"{by} called a tool without a name or with arguments that are no object; try again")
    signature = part.get("thoughtSignature")
    return ToolCall(
        id=cast("str", call.get("id") or f"call_{number}"),
        name=name,
        args=cast("Mapping[str, Json]", args),
        extra={SIGNATURE: signature} if isinstance(signature, str) else {},
    )
