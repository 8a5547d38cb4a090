"""Adding messages to a session: in order, once each, findable in the same transaction."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.hit import SourceKind
from recollectum.domain.message import Content, Json, Message, Part, Role, TokenCount, ToolCall, text_of, trust_of_role
from recollectum.domain.session import Session
from recollectum.policy.clock import Reading
from recollectum.recall.passages import message_hashes
from recollectum.storage.port import Tx
from recollectum.storage.tables import chunks, embedding_cache, events, messages, sessions
from recollectum.text.cleaning import clean, clean_json
from recollectum.text.tokens import estimate
from recollectum.vault.footing import Footing
from recollectum.vault.keeping import note_going, texts_of
from recollectum.vault.quarantine_later import take_in
from recollectum.vault.redacting import message_without_secrets

MAX_TEXT = 10_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as it is handed in."""

    role: str
    content: str | Iterable[Part]
    native_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    thoughts: tuple[Part, ...] = ()
    tokens: TokenCount | None = None
    model: str | None = None
    speaker: str | None = None
    #: When it was said, if that was not now.
    at: datetime | None = None
    extra: Mapping[str, Json] | None = None


def to_message(said: Said, session_id: str, message_id: str, now: datetime) -> Message:
    """A message checked and cleaned, without its place in the session yet."""
    role = _role(said.role)
    content = _content(said.content)
    text = text_of(content)
    if len(text) > MAX_TEXT:
        raise InvalidInput(f"message of {len(text)} characters is too long; use at most {MAX_TEXT}")
    if said.at is not None and said.at.tzinfo is None:
        raise InvalidInput(f"at {said.at} has no time zone; give an aware datetime")
    return Message(
        id=message_id,
        session_id=session_id,
        position=0,
        role=role,
        content=content,
        created_at=said.at or now,
        tool_calls=tuple(_clean_call(call) for call in said.tool_calls),
        thoughts=_objects(said.thoughts),
        tokens=said.tokens,
        token_estimate=estimate(text),
        model=clean(said.model) if said.model else None,
        native_id=clean(said.native_id) if said.native_id else None,
        speaker=clean(said.speaker) if said.speaker else None,
        trust=trust_of_role(role),
        extra=_object(said.extra or {}),
    )


def append(tx: Tx, message: Message, now: datetime) -> Message:
    """Add a message at the end of its session, unless its agent's id is there already."""
    if message.native_id is not None:
        known = messages.find_native(tx, message.session_id, message.native_id)
        if known:
            return known
    message = message_without_secrets(message)
    position = sessions.grow(tx, message.session_id, messages=1, tokens=message.token_estimate, at=now)
    if position is None:
        raise NotFound(f"there is no session {message.session_id!r} in this vault")
    placed = replace(message, position=position)
    take_in(tx, placed)
    return placed


def remove_session(tx: Tx, session_id: str, *, actor: str, at: datetime, type: EventType) -> bool:
    """Destroy a session, its messages and their place in the index."""
    for number, message in messages.of_session(tx, session_id):
        chunks.remove(tx, SourceKind.SESSIONS, number)
        embedding_cache.forget(tx, message_hashes(message))
        note_going(tx, *texts_of(message))
    if not sessions.delete(tx, session_id):
        return False
    events.add(tx, type, "session", session_id, at=at, actor=actor)
    return True


def prune_hooks(tx: Tx, reading: Reading, footing: Footing) -> int:
    """Destroy hook sessions that are too old or too many; how many went."""
    if reading.held:
        return 0
    rules = footing.settings.sessions
    # 0 turns a limit off.
    age = timedelta(hours=rules.hook_max_age_hours) if rules.hook_max_age_hours else reading.now - _EPOCH
    stale = sessions.stale_hooks(tx, oldest=reading.now - age, most=rules.hook_max_count or _NO_LIMIT)
    for session_id in stale:
        remove_session(tx, session_id, actor=footing.actor, at=reading.now, type=EventType.PRUNED)
    return len(stale)


def existing(tx: Tx, session_id: str) -> Session:
    """The session with that id."""
    session = sessions.find(tx, session_id)
    if session is None:
        raise NotFound(f"there is no session {session_id!r} in this vault")
    if session.imported and sessions.is_taken_back(tx, session_id):
        raise NotFound(
            f"session {session_id!r} was taken back with its import; see: recollectum quarantine list, and release that"
        )
    return session


def _role(role: str) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise InvalidInput(f"role {role!r} is unknown; use one of {', '.join(Role)}") from None


def _content(content: str | Iterable[Part]) -> Content:
    return clean(content) if isinstance(content, str) else _objects(content)


def _objects(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(_object(part) for part in parts)


def _object(part: Mapping[str, Json]) -> Part:
    if not part:
        return part
    cleaned = clean_json(part)
    if not isinstance(cleaned, Mapping):
        raise InvalidInput(f"a part of type {type(part).__name__} is not a JSON object; give a mapping")
    return cleaned


def _clean_call(call: ToolCall) -> ToolCall:
    return replace(
        call,
        id=clean(call.id),
        name=clean(call.name),
        args=_object(call.args),
        result=clean_json(call.result),
        extra=_object(call.extra),
    )
