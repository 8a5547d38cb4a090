"""What Anthropic's messages answer, whole or as a stream of events, as a Reply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from recollectum.domain.errors import ModelGarbled, ModelUnavailable
from recollectum.domain.language_model import Finish, ModelIdentity, Prompt, Reply, Usage
from recollectum.domain.message import Json, ToolCall
from recollectum.models.costs import estimated_usage

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
#: What was read from a cache or written into one is read all the same.
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

_Members = Mapping[str, object]


@dataclass(slots=True)
class _Block:
    """A text, or a tool call whose arguments come in pieces."""

    kind: str
    id: str = ""
    name: str = ""
    text: str = ""


@dataclass(slots=True)
class Draft:
    """A reply that is still coming in."""

    finish: str | None = None
    counted: dict[str, int] = field(default_factory=dict[str, int])
    blocks: dict[int, _Block] = field(default_factory=dict[int, _Block])

    def add(self, event: object) -> str:
        """Take one event in, and say what it adds to the text."""
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
                raise ModelUnavailable("the model broke off with an error of its own; try again later")
            case _:
                # A sign of life, the end of a block, or what a later version adds.
                pass
        return ""

    def end(self, members: _Members, usage: object) -> None:
        """Take in why it ended, and what it used."""
        self.finish = cast("str | None", members.get("stop_reason")) or self.finish
        self._count(usage)

    def reply(self, prompt: Prompt, by: ModelIdentity) -> Reply:
        """The whole of it."""
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
        # Whatever else comes in pieces, such as thoughts, is not part of what is said.
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


def whole(answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
    """The reply in an answer that came at once."""
    members = cast("_Members", answer)
    draft = Draft()
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
        raise ModelGarbled(f"{by} called a tool without a name or with arguments that are no object; try again")
    return ToolCall(id=block.id, name=block.name, args=cast("dict[str, Json]", args))
