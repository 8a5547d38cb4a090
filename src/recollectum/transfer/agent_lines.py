"""Represents one line of an agent's log as a message without a session."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from recollectum.domain.message import Json, Message, Part, Role, ToolCall
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.text.tokens import estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLine:
    """One parsed line: its conversation, its time, and its message."""

    #: The agent's own id of the conversation, if the line has it.
    conversation: str | None = None
    at: datetime | None = None
    #: Without ids and position; None for a line without a message.
    message: Message | None = None
    #: How many images and files the line holds, which are not kept.
    attachments: int = 0


def imported_message(
    *,
    role: Role,
    text: str,
    at: datetime,
    native_id: str,
    calls: tuple[ToolCall, ...] = (),
    thoughts: tuple[Part, ...] = (),
    model: str | None = None,
) -> Message:
    """Return a message that another program recorded."""
    return Message(
        id="",
        session_id="",
        position=0,
        role=role,
        content=text,
        created_at=at,
        tool_calls=calls,
        thoughts=thoughts,
        token_estimate=estimate(text),
        model=model,
        native_id=native_id,
        trust=Trust.IMPORTED,
    )


def count_attachments(parts: Iterable[Part], *kinds: str) -> int:
    """Return how many parts are of a kind that is not text."""
    return sum(1 for part in parts if part.get("type") in kinds)


def flag(value: Mapping[str, Json], name: str) -> bool:
    """Return whether a flag is set."""
    return value.get(name) is True
