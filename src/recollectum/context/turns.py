"""Turns: which messages belong together, so that no cut separates a tool call from its result."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from recollectum.domain.message import Json, Message, Part, Role

#: How far back the call of a result is looked for; agents answer a call within a few messages.
FARTHEST = 200

_NAMES_OF_A_CALL = ("tool_call_id", "tool_use_id", "call_id")


def units(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """The smallest ranges that stay or go together, from the newest back; it looks at no more than it is asked for."""
    end = len(messages)
    while end > 0:
        start = _reach(messages, end - 1)
        yield start, end
        end = start


def is_orphan(messages: Sequence[Message], start: int) -> bool:
    """Whether the unit that begins here is a result whose call is not among the messages."""
    return messages[start].role is Role.TOOL


def calls_answered(message: Message) -> frozenset[str]:
    """The ids of the tool calls that a message is the result of, as far as its agent wrote them down."""
    if message.role is not Role.TOOL:
        return frozenset()
    parts = () if isinstance(message.content, str) else message.content
    return frozenset(id for part in (message.extra, *parts) for id in _call_ids(part))


def _reach(messages: Sequence[Message], last: int) -> int:
    """Where the unit that ends with a message begins."""
    start = last
    place = last
    while place >= start:
        start = min(start, _call_of(messages, place))
        place -= 1
    return start


def _call_of(messages: Sequence[Message], place: int) -> int:
    """The place of the message that made the call which this one answers; its own when it answers none."""
    if messages[place].role is not Role.TOOL:
        return place
    wanted = calls_answered(messages[place])
    found = [at for at in _calling(messages, place, wanted)] if wanted else []
    # What names no call, or one that was not written down, belongs to whatever it follows.
    return min(found, default=_before_results(messages, place))


def _calling(messages: Sequence[Message], place: int, wanted: frozenset[str]) -> Iterator[int]:
    missing = set(wanted)
    for at in range(place - 1, max(-1, place - 1 - FARTHEST), -1):
        answered = missing & {call.id for call in messages[at].tool_calls}
        if answered:
            missing -= answered
            yield at
        if not missing:
            return


def _before_results(messages: Sequence[Message], place: int) -> int:
    while place > 0 and messages[place].role is Role.TOOL:
        place -= 1
    return place


def _call_ids(part: Part) -> Iterator[str]:
    for name in _NAMES_OF_A_CALL:
        if isinstance(id := part.get(name), str):
            yield id
    response = part.get("functionResponse")
    if isinstance(response, Mapping) and isinstance(id := cast("Mapping[str, Json]", response).get("id"), str):
        yield id
