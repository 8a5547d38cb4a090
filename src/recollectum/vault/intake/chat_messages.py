"""Reads messages as the chat interfaces of OpenAI, Anthropic and Gemini write them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, cast, runtime_checkable

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import parse_enum
from recollectum.domain.message import Json, Part, Role, ToolCall
from recollectum.domain.models.chat_formats import SIGNATURE
from recollectum.vault.intake.new_message import NewMessage

_Fields = Mapping[str, object]
#: The roles that only one of them has, under their names here.
_ROLES = {"developer": Role.SYSTEM, "model": Role.ASSISTANT, "function": Role.TOOL}
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


@runtime_checkable
class _Record(Protocol):
    """A record of a client library, which gives its fields."""

    def model_dump(self, *, mode: str, exclude_none: bool) -> dict[str, object]: ...


def read_chat_message(given: object) -> list[NewMessage]:
    """Return a message as one or more of ours: results of tools that came with a person's words are separate.

    Raise an error that says what is wrong with it.
    """
    message = _fields(given)
    role, content = message.get("role"), message.get("content", message.get("parts"))
    calls = list(_openai_calls(message.get("tool_calls")))
    # A message of Gemini needs no role, and one of OpenAI that calls tools needs no content.
    role = "user" if role is None and "parts" in message else role
    content = "" if content is None and calls else content
    if not isinstance(role, str) or not isinstance(content, str | list | tuple):
        raise InvalidInput(f"a message needs a role and a content, not {sorted(message)}; give both as texts")
    speaker = parse_enum(Role, _ROLES.get(role, role), "role")
    extra = {"tool_call_id": id} if isinstance(id := message.get("tool_call_id"), str) else {}
    if isinstance(content, str):
        return [_new_message(message, speaker, content, calls, extra=extra)]
    parts = [_part(one) for one in cast("Iterable[object]", content)]
    results = [one for part in parts for one in _results(part)]
    rest = [part for part in parts if not _is_call(part) and not _is_thought(part) and not any(_results(part))]
    calls += [call for number, part in enumerate(parts) for call in _calls(number, part)]
    thoughts = [part for part in parts if _is_thought(part)]
    if results and not rest and not calls:
        return results
    return [*results, _new_message(message, speaker, rest, calls, thoughts, extra)]


def _new_message(
    message: _Fields,
    role: Role,
    content: "str | list[Part]",
    calls: Iterable[ToolCall],
    thoughts: Iterable[Part] = (),
    extra: Mapping[str, Json] | None = None,
) -> NewMessage:
    native_id, name = message.get("id"), message.get("name")
    return NewMessage(
        role=role,
        content=content,
        native_id=native_id if isinstance(native_id, str) else None,
        tool_calls=tuple(calls),
        thoughts=tuple(thoughts),
        # The name of a result is that of its tool.
        speaker=name if isinstance(name, str) and role is not Role.TOOL else None,
        extra=extra or None,
    )


def _fields(given: object) -> _Fields:
    if isinstance(given, _Record):
        return given.model_dump(mode="json", exclude_none=True)
    if not isinstance(given, Mapping):
        raise InvalidInput(f"a message is a mapping with role and content, not {type(given).__name__}")
    return cast("_Fields", given)


def _part(given: object) -> Part:
    if isinstance(given, str):
        return {"text": given}
    return cast("Part", _fields(given))


def _is_thought(part: Part) -> bool:
    return part.get("thought") is True or part.get("type") in _THOUGHTS


def _is_call(part: Part) -> bool:
    return part.get("type") == "tool_use" or _member(part, "functionCall", "function_call") is not None


def _calls(number: int, part: Part) -> Iterator[ToolCall]:
    """Yield the call that a part of Anthropic or Gemini is."""
    if part.get("type") == "tool_use":
        yield _call(part.get("id"), part.get("name"), part.get("input"), number)
    elif (call := _member(part, "functionCall", "function_call")) is not None:
        signature = part.get("thoughtSignature", part.get("thought_signature"))
        kept = {SIGNATURE: signature} if isinstance(signature, str) else {}
        yield _call(call.get("id"), call.get("name"), call.get("args"), number, kept)


def _openai_calls(given: object) -> Iterator[ToolCall]:
    for number, one in enumerate(cast("Iterable[object]", given) if isinstance(given, list | tuple) else ()):
        call = _fields(one)
        function = cast("_Fields", call.get("function") or {})
        try:
            arguments: object = json.loads(str(function.get("arguments") or "{}"))
        except (ValueError, RecursionError):
            # As the model wrote them: it is part of the conversation, even where no tool can be called with it.
            arguments = {"arguments": str(function.get("arguments"))}
        yield _call(call.get("id"), function.get("name"), arguments, number)


def _call(id: object, name: object, args: object, number: int, extra: Mapping[str, Json] | None = None) -> ToolCall:
    if not isinstance(name, str) or not name:
        raise InvalidInput("a tool call has no name; give the message as the model returned it")
    return ToolCall(
        id=id if isinstance(id, str) and id else f"call_{number}",
        name=name,
        args=cast("Mapping[str, Json]", args) if isinstance(args, Mapping) else {},
        extra=extra or {},
    )


def _results(part: Part) -> Iterator[NewMessage]:
    """Yield the result of a tool that a part of Anthropic or Gemini is, with the trust of a tool."""
    if part.get("type") == "tool_result":
        yield _result("tool_use_id", part.get("tool_use_id"), part.get("content"))
    elif (found := _member(part, "functionResponse", "function_response")) is not None:
        answer = _member(cast("Part", found), "response") or {}
        yield _result("call_id", found.get("id"), cast("Json", answer.get("result", answer)))


def _result(name: str, id: object, content: Json) -> NewMessage:
    if isinstance(content, list | tuple):
        content = [_part(one) for one in cast("Iterable[object]", content)]
    else:
        content = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
    extra = {name: id} if isinstance(id, str) else None
    return NewMessage(role=Role.TOOL, content=content, extra=extra)


def _member(part: Part, *names: str) -> _Fields | None:
    """Return the object under one of the names; None when there is none."""
    found = next((one for name in names if isinstance(one := part.get(name), Mapping)), None)
    return cast("_Fields | None", found)
