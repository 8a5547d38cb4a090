"""Converts a session and a message to JSON objects and back without loss."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import is_id
from recollectum.domain.message import Content, Json, Message, Role, TokenCount, ToolCall, ToolStatus
from recollectum.domain.session import Session, SessionKey
from recollectum.domain.trust import Trust
from recollectum.transfer.foreign_json import Fields, as_objects

Word = TypeVar("Word", bound=StrEnum)


def session_to_record(session: Session) -> dict[str, Json]:
    """Return the session as an object, without what belongs to one vault (imported, counts)."""
    return _present(
        id=session.id,
        key=str(session.key),
        created_at=_spell(session.created_at),
        updated_at=_spell(session.updated_at),
        ended_at=session.ended_at and _spell(session.ended_at),
        title=session.title,
        summary=session.summary,
        project=session.project,
        extra=session.extra or None,
    )


def session_from_record(value: Json) -> Session:
    """Return the session of a record; unknown fields are kept in `extra`."""
    fields = Fields(value, "session")
    return Session(
        id=_id(fields, "ses"),
        key=SessionKey.parse(fields.text("key")),
        created_at=fields.time("created_at"),
        updated_at=fields.time("updated_at"),
        ended_at=fields.optional_time("ended_at"),
        title=fields.optional_text("title"),
        summary=fields.optional_text("summary"),
        project=fields.optional_text("project"),
        extra=_extra(fields),
    )


def message_to_record(message: Message) -> dict[str, Json]:
    """Return a message as an object, without fields that have their default value."""
    return _present(
        id=message.id,
        session_id=message.session_id,
        position=message.position,
        role=message.role.value,
        content=message.content if isinstance(message.content, str) else list(message.content),
        created_at=_spell(message.created_at),
        tool_calls=[_call_to_record(call) for call in message.tool_calls] or None,
        thoughts=list(message.thoughts) or None,
        tokens=message.tokens and tokens_to_record(message.tokens),
        token_estimate=message.token_estimate or None,
        model=message.model,
        native_id=message.native_id,
        speaker=message.speaker,
        trust=message.trust.value,
        extra=message.extra or None,
    )


def message_from_record(value: Json) -> Message:
    """Return the message of a record; unknown fields are kept in `extra`."""
    fields = Fields(value, "message")
    tokens = fields.value("tokens")
    return Message(
        id=_id(fields, "msg"),
        session_id=fields.text("session_id"),
        position=fields.count("position"),
        role=_word(fields, "role", Role),
        content=content_from(fields.value("content"), "message.content"),
        created_at=fields.time("created_at"),
        tool_calls=tuple(map(_call_from_record, fields.objects("tool_calls"))),
        thoughts=fields.objects("thoughts"),
        tokens=None if tokens is None else tokens_from(tokens, "message.tokens"),
        token_estimate=fields.count("token_estimate"),
        model=fields.optional_text("model"),
        native_id=fields.optional_text("native_id"),
        speaker=fields.optional_text("speaker"),
        trust=_word(fields, "trust", Trust),
        extra=_extra(fields),
    )


def content_from(value: Json, place: str) -> Content:
    """Return the content as a text or as parts."""
    return value if isinstance(value, str) else as_objects(value, place)


def tokens_from(value: Json, place: str) -> TokenCount:
    """Return the token counts as the provider gave them."""
    fields = Fields(value, place)
    return TokenCount(
        input=fields.count("input"),
        output=fields.count("output"),
        cached=fields.count("cached"),
        thoughts=fields.optional_count("thoughts"),
        tool=fields.optional_count("tool"),
        total=fields.count("total"),
    )


def tokens_to_record(tokens: TokenCount) -> dict[str, Json]:
    """Return the token counts as an object."""
    return _present(
        input=tokens.input,
        output=tokens.output,
        cached=tokens.cached,
        thoughts=tokens.thoughts,
        tool=tokens.tool,
        total=tokens.total,
    )


def _call_to_record(call: ToolCall) -> dict[str, Json]:
    return _present(
        id=call.id,
        name=call.name,
        args=call.args or None,
        result=call.result,
        status=call.status.value,
        at=call.at and _spell(call.at),
        extra=call.extra or None,
    )


def _call_from_record(value: Json) -> ToolCall:
    fields = Fields(value, "message.tool_calls")
    return ToolCall(
        id=fields.text("id"),
        name=fields.text("name"),
        args=fields.object("args"),
        result=fields.value("result"),
        status=_word(fields, "status", ToolStatus),
        at=fields.optional_time("at"),
        extra=_extra(fields),
    )


def _present(**fields: object) -> dict[str, Json]:
    return cast("dict[str, Json]", {name: value for name, value in fields.items() if value is not None})


def _extra(fields: Fields) -> Mapping[str, Json]:
    """Return the extra fields, and every field that a newer writer added."""
    extra = fields.object("extra")
    return {**fields.rest(), **extra}


def _id(fields: Fields, prefix: str) -> str:
    id_ = fields.text("id")
    if not is_id(id_, prefix):
        raise InvalidInput(f"id is not of the form {prefix}_… with 26 characters")
    return id_


def _word(fields: Fields, name: str, words: type[Word]) -> Word:
    text = fields.text(name)
    try:
        return words(text)
    except ValueError:
        raise InvalidInput(f"{name} is none of {', '.join(words)}") from None


def _spell(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise InvalidInput(f"time {moment} has no zone; give it in UTC")
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
