"""Writes turns in the request formats of OpenAI, Anthropic and Gemini, and makes turns of recorded messages."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from recollectum.domain.message import Json, Message, Role, ToolCall, calls_answered
from recollectum.domain.models.language_model import Turn

#: The key under which a call keeps the data that Gemini wants back with it.
SIGNATURE = "thought_signature"
#: The placeholder for a signature, which a call of another model never had.
_UNSIGNED = "skip_thought_signature_validator"
#: The placeholder for an empty text, which some servers reject.
NOTHING = "-"
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]")


def openai_messages(turns: Iterable[Turn]) -> list[object]:
    """Return the messages of a chat completion, without the system message."""
    return [_openai_message(turn) for turn in turns]


def anthropic_messages(turns: Sequence[Turn]) -> list[object]:
    """Return the messages for Anthropic, with those of one side in a row merged: all tool results are in one."""
    made: list[object] = []
    role, blocks = "user", list[object]()
    if turns and turns[0].role is Role.ASSISTANT:
        # The first turn must be the user's.
        blocks.append({"type": "text", "text": NOTHING})
    for turn in turns:
        speaker = "assistant" if turn.role is Role.ASSISTANT else "user"
        if speaker != role and blocks:
            made.append({"role": role, "content": blocks})
            blocks = []
        role = speaker
        blocks += _anthropic_blocks(turn)
    made.append({"role": role, "content": blocks or [{"type": "text", "text": NOTHING}]})
    return made


def gemini_contents(turns: Sequence[Turn]) -> list[object]:
    """Return the contents for Gemini, with those of one side in a row merged: all tool results come together."""
    made: list[object] = []
    named = {call.id: call.name for turn in turns for call in turn.tool_calls}
    role, parts = "user", list[object]()
    for turn in turns:
        speaker = "model" if turn.role is Role.ASSISTANT else "user"
        if speaker != role and parts:
            made.append({"role": role, "parts": parts})
            parts = []
        role = speaker
        parts += _gemini_parts(turn, named)
    made.append({"role": role, "parts": parts or [{"text": NOTHING}]})
    return made


def to_turns(messages: Sequence[Message]) -> list[Turn]:
    """Return the turns of a recorded conversation: what the person, the assistant and its tools said.

    Every call has its result behind it, as servers demand: a call without a recorded result is left out, and so is a
    result without a call, a system message and an empty text.
    """
    results = _Results(messages)
    turns: list[Turn] = []
    for place, said in enumerate(messages):
        if said.role is Role.USER and said.text.strip():
            turns.append(Turn(role=Role.USER, text=said.text))
        if said.role is not Role.ASSISTANT:
            continue
        answered = {call.id: text for call in said.tool_calls if (text := results.find(place, call)) is not None}
        calls = tuple(_plain_call(call) for call in said.tool_calls if call.id in answered)
        if calls or said.text.strip():
            turns.append(Turn(role=Role.ASSISTANT, text=said.text, tool_calls=calls))
            turns += [Turn(role=Role.TOOL, text=answered[call.id], answers=call.id) for call in calls]
    return turns


class _Results:
    """The results of tool calls in a conversation, by call and by place."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._by_id = {
            id: said.text for said in messages if said.role is Role.TOOL for id in calls_answered(said) if said.text
        }

    def find(self, place: int, call: ToolCall) -> str | None:
        """Return the result of a call of the message at a place: by its id, by its order, or as the call has it."""
        if call.id in self._by_id:
            return self._by_id[call.id]
        if call.result is not None:
            return call.result if isinstance(call.result, str) else json.dumps(_plain(call.result), ensure_ascii=False)
        order = [one.id for one in self._messages[place].tool_calls if one.id not in self._by_id].index(call.id)
        unnamed = self._unnamed_after(place)
        return unnamed[order].text if order < len(unnamed) else None

    def _unnamed_after(self, place: int) -> list[Message]:
        """Return the results behind a message that do not say which call they answer."""
        found: list[Message] = []
        for said in self._messages[place + 1 :]:
            if said.role is not Role.TOOL:
                break
            found += [] if calls_answered(said) else [said]
        return found


def _openai_message(turn: Turn) -> object:
    message: dict[str, object] = {"role": turn.role.value, "content": turn.text}
    if turn.tool_calls:
        message["tool_calls"] = [_openai_call(call) for call in turn.tool_calls]
    if turn.role is Role.TOOL:
        message["tool_call_id"] = turn.answers
    return message


def _openai_call(call: ToolCall) -> object:
    arguments = json.dumps(call.args, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _anthropic_blocks(turn: Turn) -> Iterator[object]:
    if turn.role is Role.TOOL:
        yield {"type": "tool_result", "tool_use_id": _anthropic_id(turn.answers), "content": turn.text or NOTHING}
        return
    if turn.text.strip():
        yield {"type": "text", "text": turn.text}
    for call in turn.tool_calls:
        yield {"type": "tool_use", "id": _anthropic_id(call.id), "name": call.name, "input": call.args}


def _anthropic_id(given: str) -> str:
    # A conversation may have begun with another provider, whose ids are rejected here.
    return _NOT_IN_AN_ID.sub("_", given)


def _gemini_parts(turn: Turn, named: Mapping[str, str]) -> Iterator[object]:
    if turn.role is Role.TOOL:
        name = named.get(turn.answers, turn.answers)
        yield {"functionResponse": {"id": turn.answers, "name": name, "response": {"result": turn.text}}}
        return
    if turn.text:
        yield {"text": turn.text}
    # The first call of a turn has the signature of all.
    for number, call in enumerate(turn.tool_calls):
        yield _gemini_call(call, signed=not number)


def _gemini_call(call: ToolCall, *, signed: bool) -> object:
    part: dict[str, object] = {"functionCall": {"id": call.id, "name": call.name, "args": call.args}}
    signature = call.extra.get(SIGNATURE, _UNSIGNED if signed else None)
    return {**part, "thoughtSignature": signature} if signature else part


def _plain_call(call: ToolCall) -> ToolCall:
    return ToolCall(id=call.id, name=call.name, args=cast("dict[str, Json]", _plain(call.args)), extra=call.extra)


def _plain(value: Json) -> Json:
    """Return a value of lists and dictionaries; rows may contain read-only ones, which `json` does not support."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
