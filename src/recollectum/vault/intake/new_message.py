"""Defines what callers hand in for a message, and checks its values."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import check_text, parse_enum
from recollectum.domain.message import (
    Content,
    Json,
    Message,
    Part,
    Role,
    RoleName,
    TokenCount,
    ToolCall,
    text_of,
    trust_of_role,
)
from recollectum.domain.records import dataclass
from recollectum.text.cleaning import clean, clean_json
from recollectum.vault.intake.draft import check_aware

MAX_TEXT = 10_000_000
#: The placeholder time of a message until its transaction sets one.
_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message as a caller hands it in."""

    role: RoleName
    content: str | Iterable[Part]
    native_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    thoughts: tuple[Part, ...] = ()
    tokens: TokenCount | None = None
    model: str | None = None
    speaker: str | None = None
    #: When it was said, if not now.
    at: datetime | None = None
    extra: Mapping[str, Json] | None = None


def hand_in(message: Message) -> NewMessage:
    """Return a message of a transcript as its program hands it in: with full trust, as the person's own program.

    An imported transcript has less.
    """
    return NewMessage(
        role=message.role.value,
        content=message.content,
        native_id=message.native_id,
        tool_calls=tuple(message.tool_calls),
        thoughts=tuple(message.thoughts),
        model=message.model,
        at=message.created_at,
    )


def check_message(said: NewMessage) -> None:
    """Raise for what no session takes; a door asks before it opens a session for the message."""
    to_clean_message(said)


def to_clean_message(said: NewMessage) -> Message:
    """Check and clean a message, which has no id, session or position yet."""
    role = parse_enum(Role, said.role, "role")
    content = _clean_content(said.content)
    length = len(text_of(content))
    if length > MAX_TEXT:
        raise InvalidInput(f"message of {length} characters is too long; use at most {MAX_TEXT}")
    check_aware("at", said.at)
    return Message(
        id="",
        session_id="",
        position=0,
        role=role,
        content=content,
        created_at=said.at or _UNKNOWN_TIME,
        tool_calls=tuple(clean_call(call) for call in said.tool_calls),
        thoughts=_clean_parts(said.thoughts),
        tokens=said.tokens,
        model=clean(said.model) if said.model else None,
        native_id=clean(said.native_id) if said.native_id else None,
        speaker=clean(said.speaker) if said.speaker else None,
        trust=trust_of_role(role),
        extra=_clean_part(said.extra or {}),
    )


def clean_call(call: ToolCall) -> ToolCall:
    """Return a tool call without characters that cannot be stored."""
    return replace(
        call,
        id=clean(call.id),
        name=clean(call.name),
        args=_clean_part(call.args),
        result=clean_json(call.result),
        extra=_clean_part(call.extra),
    )


def _clean_content(content: str | Iterable[Part]) -> Content:
    if isinstance(content, str):
        return clean(content)
    _check_parts(content)
    return _clean_parts(content)


def _check_parts(given: object) -> None:
    """Raise for what is neither text nor parts; a program without a type checker may pass anything."""
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        check_text("content", given)


def _clean_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(_clean_part(part) for part in parts)


def _clean_part(part: Mapping[str, Json]) -> Part:
    if not part:
        return part
    cleaned = clean_json(part)
    if not isinstance(cleaned, Mapping):
        raise InvalidInput(f"a part of type {type(part).__name__} is not a JSON object; give a mapping")
    return cleaned
