"""Reads and writes Gemini CLI conversation records; a record is written back as it was read."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import IdMaker
from recollectum.domain.message import Json, Message, ToolCall, text_of
from recollectum.domain.session import Session, SessionKey, name_agent
from recollectum.domain.trust import Trust
from recollectum.text.cleaning import clean_json
from recollectum.text.tokens import estimate
from recollectum.transfer.foreign_json import Fields, as_object, parse
from recollectum.transfer.gemini_format import (
    content_of,
    moment,
    moment_of,
    nothing_or,
    record_of,
    role_of,
    speaking_role,
    status_of,
    tokens_of,
    type_of,
)
from recollectum.transfer.records import tokens_to_record

#: The meaning of a field of the agent: two spellings of one meaning are equal.
Meanings = Mapping[str, Callable[[Json], object]]


def unmapped_fields(agent: str, theirs: Mapping[str, Json], ours: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields for `extra`: those that our types would not reproduce exactly."""
    unsaid = {name: value for name, value in theirs.items() if name not in ours or ours[name] != value}
    return {agent: unsaid} if unsaid else {}


def restore_unmapped(
    agent: str, ours: Mapping[str, Json], extra: Mapping[str, Json], meanings: Meanings
) -> dict[str, Json]:
    """Return our fields in the agent's spelling, if it still means the same, and the fields that only it has."""
    theirs = extra.get(agent)
    if not isinstance(theirs, Mapping):
        return dict(ours)
    unchanged = {
        name: value
        for name, value in cast("Mapping[str, Json]", theirs).items()
        if name not in meanings or _same(meanings[name], value, ours.get(name))
    }
    return {**ours, **unchanged}


def _same(meaning: Callable[[Json], object], theirs: Json, ours: Json) -> bool:
    try:
        return meaning(theirs) == meaning(ours)
    except InvalidInput:
        # Extras may come from anybody; one that cannot be parsed does not replace a valid value.
        return False


AGENT = "gemini"
CHANNEL = "cli"
NATIVE_ID = "native_id"
_SESSION_MEANINGS = {
    "startTime": moment_of,
    "lastUpdated": moment_of,
    "projectHash": nothing_or,
    "summary": nothing_or,
}
_MESSAGE_MEANINGS = {
    "timestamp": moment_of,
    "type": role_of,
    "content": content_of,
    "toolCalls": nothing_or,
    "thoughts": nothing_or,
    "tokens": tokens_of,
    "model": nothing_or,
}
_CALL_MEANINGS = {"args": nothing_or, "result": nothing_or, "status": status_of, "timestamp": moment_of}


def read_record(data: bytes | str, ids: IdMaker) -> tuple[Session, tuple[Message, ...]]:
    """Return the conversation of a record, or of the change log that newer versions write; ids are new."""
    record = record_of(_decode(data))
    fields = Fields(record, "record")
    native_id = fields.text("sessionId")
    session_id = ids("ses")
    messages = tuple(
        _read_message(item, position, session_id, ids)
        for position, item in enumerate(fields.objects("messages"), start=1)
    )
    session = Session(
        id=session_id,
        key=SessionKey(agent=name_agent(AGENT), channel=CHANNEL, topic=native_id),
        created_at=fields.time("startTime"),
        updated_at=fields.time("lastUpdated"),
        summary=fields.optional_text("summary"),
        project=fields.optional_text("projectHash"),
        imported=True,
        message_count=len(messages),
        token_estimate=sum(message.token_estimate for message in messages),
        extra={NATIVE_ID: native_id},
    )
    extra = {**session.extra, **unmapped_fields(AGENT, _without(record, "messages"), _session_fields(session))}
    return replace(session, extra=extra), messages


def _read_message(item: Mapping[str, Json], position: int, session_id: str, ids: IdMaker) -> Message:
    place = f"messages[{position - 1}]"
    fields = Fields(item, place)
    word = fields.text("type")
    content = content_of(fields.value("content"), f"{place}.content")
    message = Message(
        id=ids("msg"),
        session_id=session_id,
        position=position,
        role=speaking_role(word, content),
        content=content,
        created_at=fields.time("timestamp"),
        tool_calls=tuple(
            _read_call(call, f"{place}.toolCalls[{index}]") for index, call in enumerate(fields.objects("toolCalls"))
        ),
        thoughts=fields.objects("thoughts"),
        tokens=tokens_of(fields.value("tokens"), f"{place}.tokens"),
        token_estimate=estimate(text_of(content)),
        model=fields.optional_text("model"),
        native_id=fields.text("id"),
        trust=Trust.IMPORTED,
    )
    # Tool calls keep their own fields; only an empty list of them is stored here.
    theirs = _without(item, "toolCalls") if message.tool_calls else item
    return replace(message, extra=unmapped_fields(AGENT, theirs, _message_fields(message)))


def _read_call(item: Mapping[str, Json], place: str) -> ToolCall:
    fields = Fields(item, place)
    call = ToolCall(
        id=fields.text("id"),
        name=fields.text("name"),
        args=fields.object("args"),
        result=fields.value("result"),
        status=status_of(fields.value("status")),
        at=fields.optional_time("timestamp"),
    )
    return replace(call, extra=unmapped_fields(AGENT, item, _call_fields(call)))


def write_record(session: Session, messages: Iterable[Message]) -> str:
    """Return the conversation as a record; one that was read is unchanged."""
    return json.dumps(_record(session, messages), indent=2, ensure_ascii=False)


def same_record(before: bytes, after: str) -> bool:
    """Return whether a file has the same content as a record, apart from the time of the last update."""
    try:
        found = as_object(parse(_decode(before)), "record")
    except InvalidInput:
        # A file that cannot be read has no content, and is replaced whole.
        return False
    return _without(found, "lastUpdated") == _without(as_object(parse(after), "record"), "lastUpdated")


def _record(session: Session, messages: Iterable[Message]) -> dict[str, Json]:
    fields = restore_unmapped(AGENT, _session_fields(session), session.extra, _SESSION_MEANINGS)
    written = [_message_fields(message) for message in messages]
    return as_object(clean_json({**fields, "messages": written}), "record")


def _session_fields(session: Session) -> dict[str, Json]:
    native_id = session.extra.get(NATIVE_ID)
    return _present(
        sessionId=native_id if isinstance(native_id, str) else session.id,
        projectHash=session.project,
        startTime=moment(session.created_at),
        lastUpdated=moment(session.updated_at),
        summary=session.summary,
    )


def _message_fields(message: Message) -> dict[str, Json]:
    ours = _present(
        id=message.native_id or message.id,
        timestamp=moment(message.created_at),
        type=type_of(message.role),
        content=message.content if isinstance(message.content, str) else list(message.content),
        toolCalls=[_call_fields(call) for call in message.tool_calls] or None,
        thoughts=list(message.thoughts) or None,
        tokens=message.tokens and tokens_to_record(message.tokens),
        model=message.model,
    )
    return restore_unmapped(AGENT, ours, message.extra, _MESSAGE_MEANINGS)


def _call_fields(call: ToolCall) -> dict[str, Json]:
    ours = _present(
        id=call.id,
        name=call.name,
        args=call.args,
        result=call.result,
        status=call.status.value,
        timestamp=call.at and moment(call.at),
    )
    return restore_unmapped(AGENT, ours, call.extra, _CALL_MEANINGS)


def _present(**fields: object) -> dict[str, Json]:
    return cast("dict[str, Json]", {name: value for name, value in fields.items() if value is not None})


def _without(record: Mapping[str, Json], name: str) -> dict[str, Json]:
    return {key: value for key, value in record.items() if key != name}


def _decode(data: bytes | str) -> str:
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("the record is not UTF-8 text") from None
