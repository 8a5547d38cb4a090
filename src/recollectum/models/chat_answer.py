"""What a chat completions endpoint answers, whole or as a stream of events, as a Reply."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from recollectum.domain.errors import ModelGarbled, ModelRefused, ModelUnavailable
from recollectum.domain.language_model import Finish, ModelIdentity, Prompt, Reply, Usage
from recollectum.domain.message import Json, ToolCall
from recollectum.models.costs import estimated_usage

_FINISHES = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "tool_calls": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
    "content_filter": Finish.FILTERED,
}
#: What an answer that is not one makes Python say.
NOT_AN_ANSWER = (KeyError, TypeError, AttributeError, IndexError, ValueError)

_Members = Mapping[str, object]


@dataclass(slots=True)
class _Call:
    """A tool call whose arguments come in pieces."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Draft:
    """A reply that is still coming in."""

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None
    calls: dict[int, _Call] = field(default_factory=dict[int, _Call])

    def add(self, event: object) -> str:
        """Take one event in, and say what it adds to the text."""
        members = cast("_Members", event)
        if "error" in members:
            raise ModelUnavailable("the model broke off with an error of its own; try again later")
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
        """The whole of it."""
        calls = tuple(_tool_call(number, call, by) for number, call in sorted(self.calls.items()))
        written = self.text + "".join(call.arguments for call in self.calls.values())
        finish = _FINISHES.get(self.finish or "", Finish.UNKNOWN)
        return Reply(
            text=self.text,
            tool_calls=calls,
            usage=self.usage or estimated_usage(prompt, written),
            # Some servers say "stop" when they mean it.
            finish=Finish.TOOL_CALLS if calls else finish,
            by=by,
        )


def whole(answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
    """The reply in an answer that came at once; an error of NOT_AN_ANSWER where it is none."""
    draft = Draft()
    draft.add(answer)
    # An answer without a choice has added nothing, and is not an empty reply.
    cast("Mapping[str, Sequence[object]]", answer)["choices"][0]
    return draft.reply(prompt, by)


def events(pieces: Iterable[bytes], name: str) -> Iterator[object]:
    """The events of a stream; `name` says in an error whose it is."""
    for line in _lines(pieces):
        if not line.startswith(b"data:"):
            # A comment that keeps the connection open, or a field that nobody needs.
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
        raise ModelGarbled(f"{by} called a tool without a name or with arguments that are no object; try again")
    return ToolCall(id=call.id or f"call_{number}", name=call.name, args=cast("dict[str, Json]", args))
