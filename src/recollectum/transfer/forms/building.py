"""Builds conversations and messages whose ids are derived from those of the other program."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import derived_id
from recollectum.domain.message import Json, Message, Part, Role, ToolCall
from recollectum.domain.session import Session, SessionKey
from recollectum.text.cleaning import clean
from recollectum.transfer.agent_lines import imported_message
from recollectum.vault.files.foreign_sources import ForeignConversation

NATIVE_ID = "native_id"
_SEPARATOR = "\x1f"
_LONGEST_PART = 200
#: A larger number counts milliseconds: as seconds it would be after the year 5000.
_MILLISECONDS = 1e11
_MICROSECONDS = 1e14
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Talk:
    """One conversation of a program, and the place of its next message."""

    def __init__(
        self,
        form: str,
        native: str,
        at: datetime,
        *,
        updated: datetime | None = None,
        title: str | None = None,
        person: str | None = None,
        channel: str = "import",
        extra: Mapping[str, Json] | None = None,
    ) -> None:
        self._form = form
        self._native = native
        session = Session(
            id=derived_id("ses", at, f"{form}{_SEPARATOR}{native}"),
            key=SessionKey(agent=form, channel=key_part(channel), topic=key_part(native)),
            created_at=at,
            updated_at=max(at, updated or at),
            title=clean(title) if title else None,
            imported=True,
            extra={**(extra or {}), NATIVE_ID: clean(native)},
        )
        self.begins = ForeignConversation(session=session, person=person)
        self._count = 0

    @property
    def session(self) -> Session:
        """The session of the conversation."""
        return self.begins.session

    def say(
        self,
        role: Role,
        text: str,
        at: datetime | None = None,
        native_id: str | None = None,
        *,
        calls: tuple[ToolCall, ...] = (),
        thoughts: tuple[Part, ...] = (),
        model: str | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> Message:
        """Return the next message; one to which its program gave no id is known by its place and its words."""
        self._count += 1
        when = at or self.session.created_at
        native = clean(native_id) if native_id else f"place {self._count} {text_digest(text)}"
        made = imported_message(
            role=role, text=clean(text), at=when, native_id=native, calls=calls, thoughts=thoughts, model=model
        )
        return _placed(made, self.session.id, f"{self._form}{_SEPARATOR}{self._native}{_SEPARATOR}{native}", extra)


def _placed(message: Message, session_id: str, seed: str, extra: Mapping[str, Json] | None) -> Message:
    # Written out: `replace` of a message is slow, and every message passes here.
    return Message(
        id=derived_id("msg", message.created_at, seed),
        session_id=session_id,
        position=0,
        role=message.role,
        content=message.content,
        created_at=message.created_at,
        tool_calls=message.tool_calls,
        thoughts=message.thoughts,
        token_estimate=message.token_estimate,
        model=message.model,
        native_id=message.native_id,
        trust=message.trust,
        extra=extra or {},
    )


def text_digest(text: str) -> str:
    """Return a short digest of a text, for the id of something that has none."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def key_part(text: str) -> str:
    """Return a text as a part of a session key: without control characters, and not too long."""
    plain = "".join(char for char in clean(text) if char.isprintable()).strip()
    return plain[:_LONGEST_PART] or "unnamed"


def moment(value: Json, place: str = "its time") -> datetime:
    """Return a time as programs write it: seconds, milliseconds, or ISO 8601; one without a zone is in UTC."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _of_number(float(value))
        if isinstance(value, str) and value:
            found = datetime.fromisoformat(value.strip())
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise InvalidInput(f"{place} is not a time")


def optional_moment(value: Json, otherwise: datetime) -> datetime:
    """Return a time, or another where there is none or it is damaged."""
    try:
        return moment(value)
    except InvalidInput:
        return otherwise


def _of_number(number: float) -> datetime:
    if not math.isfinite(number):
        raise ValueError
    if abs(number) >= _MICROSECONDS:
        number /= 1e6
    elif abs(number) >= _MILLISECONDS:
        number /= 1e3
    return datetime.fromtimestamp(number, UTC)


def text_field(value: Mapping[str, Json], name: str, place: str) -> str:
    """Return a text that an object must have."""
    found = value.get(name)
    if not isinstance(found, str) or not found:
        raise InvalidInput(f"{place} has no {name}")
    return found


def text_or_none(value: Json) -> str | None:
    """Return the value if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def texts_of(parts: Json) -> str:
    """Return the texts of a list of parts, one per line; of a text, itself."""
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, Sequence):
        return ""
    found = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "\n".join(text for text in found if isinstance(text, str) and text)


def as_arguments(value: Json) -> Mapping[str, Json]:
    """Return the arguments of a tool call as an object."""
    return value if isinstance(value, dict) else {} if value is None else {"input": value}


_ROLES = {
    **dict.fromkeys(("user", "human", "me", "you", "person", "customer"), Role.USER),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "agent", "gemini", "claude", "chatgpt"), Role.ASSISTANT),
    **dict.fromkeys(("tool", "function", "toolresult"), Role.TOOL),
    **dict.fromkeys(("system", "developer"), Role.SYSTEM),
}


def role_of(word: Json) -> Role:
    """Return the role that a word names; an unknown one is a notice."""
    return _ROLES.get(word.strip().casefold(), Role.INFO) if isinstance(word, str) else Role.INFO
