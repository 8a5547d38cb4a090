"""Reads the conversations of OpenClaw: the database of an agent, and the JSON lines of older versions."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Message, Role, ToolCall
from recollectum.home.compressed import decompressed
from recollectum.storage.foreign.database import ForeignDatabase, Value
from recollectum.transfer.agent_lines import AgentLine, count_attachments, imported_message
from recollectum.transfer.foreign_json import Fields, as_object, parse
from recollectum.transfer.forms.building import (
    Talk,
    as_arguments,
    moment,
    optional_moment,
    role_of,
    text_or_none,
    texts_of,
)
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, OmittedPart, Progress

AGENT = "openclaw"
NAME = "OpenClaw database"
_COLUMNS = ("event_json", "event_zstd")


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a database has the tables of this form."""
    return {"session_windows", "transcript_events"} <= tables.keys() and set(_COLUMNS) <= tables["transcript_events"]


def read_line(value: Mapping[str, Json]) -> AgentLine:
    """Return the content of one line of an older transcript, or of one event of a newer one."""
    fields = Fields(value, "line")
    at = fields.optional_time("timestamp")
    if value.get("type") == "session":
        return AgentLine(conversation=fields.text("id"), at=at)
    said = value.get("message")
    content = said.get("content") if isinstance(said, dict) else None
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    attached = count_attachments(parts, "image", "file")
    return AgentLine(at=at, message=_message(value, at) if at else None, attachments=attached)


def read(database: ForeignDatabase, progress: Progress) -> Iterator[ForeignItem]:
    """Yield every session with its messages, oldest first."""
    columns = ("session_id", "session_key", "created_at", "updated_at", "channel", "display_name")
    for id_, key, created, updated, channel, title in database.rows(
        "session_windows", columns, order=("created_at", "session_id")
    ):
        try:
            began = moment(created if isinstance(created, int) else None, "created_at")
            talk = Talk(
                AGENT,
                str(id_),
                began,
                updated=optional_moment(updated if isinstance(updated, int) else None, began),
                title=title if isinstance(title, str) else None,
                channel=str(channel or "cli"),
                extra={"session_key": str(key)},
            )
        except InvalidInput as error:
            yield DamagedPart(f"session {id_!r}", str(error))
            continue
        yield talk.begins
        yield from _events(database, talk, str(id_), progress)


def _events(database: ForeignDatabase, talk: Talk, session_id: str, progress: Progress) -> Iterator[ForeignItem]:
    rows = database.rows("transcript_events", ("seq", *_COLUMNS), where={"session_id": session_id}, order=("seq",))
    for seq, plain, packed in rows:
        progress(1)
        try:
            value = as_object(parse(_text(plain, packed)), "the event")
            line = read_line(value)
        except InvalidInput as error:
            yield DamagedPart(f"event {seq!r} of {session_id[:80]}", str(error))
            continue
        if line.attachments:
            yield OmittedPart("attachment", line.attachments)
        found = line.message
        if found is not None:
            yield talk.say(
                found.role,
                found.text,
                found.created_at,
                found.native_id,
                calls=found.tool_calls,
                thoughts=found.thoughts,
                model=found.model,
            )


def _text(plain: Value, packed: Value) -> str:
    if isinstance(plain, str):
        return plain
    if not isinstance(packed, bytes):
        raise InvalidInput("the event is empty")
    try:
        return decompressed(packed).decode()
    except UnicodeDecodeError:
        raise InvalidInput("it is not UTF-8") from None


def _message(value: Mapping[str, Json], at: datetime) -> Message | None:
    said = value.get("message")
    if value.get("type") != "message" or not isinstance(said, dict):
        return None
    role, content = role_of(said.get("role")), said.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    # What a tool answered belongs to the tool; the words of both sides are kept.
    text = "" if role is Role.TOOL else texts_of(content)
    calls = tuple(
        ToolCall(id=str(part.get("id")), name=str(part.get("name")), args=as_arguments(part.get("arguments")))
        for part in parts
        if part.get("type") in ("toolCall", "tool_use")
    )
    if not text and not calls:
        return None
    return imported_message(
        role=role,
        text=text,
        at=at,
        native_id=Fields(value, "line").text("id"),
        calls=calls,
        thoughts=tuple(part for part in parts if part.get("type") == "thinking"),
        model=text_or_none(said.get("model")),
    )
