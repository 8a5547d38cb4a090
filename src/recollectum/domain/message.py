"""Message: one event in a session, with everything its agent recorded about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias, cast

from recollectum.domain.notice import BESIDE, NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
#: The types of values without text.
NUMBERS = frozenset({int, float, bool, type(None)})
#: One part of a message that is not plain text, as its agent wrote it.
Part = Mapping[str, Json]
Content = str | tuple[Part, ...]


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


#: A role as callers write it: the member, or its value.
RoleName: TypeAlias = Role | Literal["system", "user", "assistant", "tool", "info", "warning", "error"]


class ToolStatus(StrEnum):
    """The state of a tool call."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call: its arguments, its result and its state."""

    id: str
    name: str
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])
    result: Json = None
    status: ToolStatus = ToolStatus.PENDING
    at: datetime | None = None
    #: What the agent recorded that has no field here, kept for a faithful export.
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """An agent's use of a tool that saves a memory; recorded in the agent's session with the memory."""

    tool: str
    agent: str
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """Tokens as the provider counted them."""

    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int | None = None
    tool: int | None = None
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One event of a conversation."""

    id: str
    session_id: str
    #: Counts from 1 without gaps, in the order in which messages were added.
    position: int
    role: Role
    content: Content
    created_at: datetime
    tool_calls: tuple[ToolCall, ...] = ()
    thoughts: tuple[Part, ...] = ()
    tokens: TokenCount | None = None
    token_estimate: int = 0
    model: str | None = None
    #: The native id from its agent; adding the same one twice changes nothing.
    native_id: str | None = None
    #: Who spoke, when the role does not say: a member of a group.
    speaker: str | None = None
    trust: Trust = Trust.UNKNOWN
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])
    #: What the write that returned it did to its text; empty for one that was read.
    notice: Notice = field(default=NO_NOTICE, compare=False, repr=False, metadata=BESIDE)

    @property
    def text(self) -> str:
        """The text of the message, whatever form its content has."""
        return text_of(self.content)


def text_of(content: Content) -> str:
    """Return the text of a content: the text itself, or that of its parts, one per line."""
    if isinstance(content, str):
        return content
    return "\n".join(text for part in content if isinstance(text := part.get("text"), str))


_TRUST_OF_ROLE = {Role.USER: Trust.OWNER, Role.ASSISTANT: Trust.ASSISTANT, Role.TOOL: Trust.TOOL}


def trust_of_role(role: Role) -> Trust:
    """Return the trust of a message when only its role is known."""
    return _TRUST_OF_ROLE.get(role, Trust.UNKNOWN)


_NAMES_OF_A_CALL = ("tool_call_id", "tool_use_id", "call_id")


def calls_answered(message: Message) -> frozenset[str]:
    """Return the ids of the tool calls that a message answers, as far as its agent recorded them."""
    if message.role is not Role.TOOL:
        return frozenset()
    parts = () if isinstance(message.content, str) else message.content
    return frozenset(id for part in (message.extra, *parts) for id in _call_ids(part))


def _call_ids(part: Part) -> Iterator[str]:
    for name in _NAMES_OF_A_CALL:
        if isinstance(id := part.get(name), str):
            yield id
    response = part.get("functionResponse")
    if isinstance(response, Mapping) and isinstance(id := cast("Mapping[str, Json]", response).get("id"), str):
        yield id
