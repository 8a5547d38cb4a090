"""Represents one line of an agent's log as a message without a session."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollectum.domain.message import Json, Message, Part, Role, ToolCall
from recollectum.domain.trust import Trust
from recollectum.text.tokens import estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLine:
    """What a line says: of which conversation it is, when it was written, and what was said."""

    #: The agent's own id of the conversation, where the line names it.
    conversation: str | None = None
    at: datetime | None = None
    #: Without its ids and its place; None for a line that holds no message.
    message: Message | None = None


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
    """A message that somebody else's program wrote down."""
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


def flag(value: Mapping[str, Json], name: str) -> bool:
    """Whether a switch is on."""
    return value.get(name) is True
