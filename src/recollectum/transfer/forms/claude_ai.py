"""Reads the export of Claude.ai: a list of conversations with their messages."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import BinaryIO

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, ToolCall
from recollectum.transfer.foreign_json import as_list, as_object
from recollectum.transfer.forms.building import (
    Talk,
    as_arguments,
    moment,
    optional_moment,
    role_of,
    text_field,
    text_or_none,
    texts_of,
)
from recollectum.transfer.forms.json_files import read_conversations
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, OmittedPart, Progress

AGENT = "claude-ai"
NAME = "Claude.ai export"


def is_conversation(value: Mapping[str, Json]) -> bool:
    """Return whether an object is a conversation of this form."""
    return isinstance(value.get("chat_messages"), list) and "uuid" in value


def read(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the conversations of a list."""
    yield from read_conversations(file, progress, _conversation)


def _conversation(value: Mapping[str, Json]) -> Iterator[ForeignItem]:
    began = moment(value.get("created_at"), "created_at")
    account = value.get("account")
    talk = Talk(
        AGENT,
        text_field(value, "uuid", "the conversation"),
        began,
        updated=optional_moment(value.get("updated_at"), began),
        title=text_or_none(value.get("name")),
        channel="web",
        extra={"account": account["uuid"]} if isinstance(account, dict) and "uuid" in account else {},
    )
    yield talk.begins
    for place, message in enumerate(as_list(value.get("chat_messages"), "chat_messages"), start=1):
        try:
            yield from _message(talk, as_object(message, "it"), began)
        except InvalidInput as error:
            yield DamagedPart(f"message {place} of {talk.session.extra['native_id']}", str(error))


def _message(talk: Talk, message: Mapping[str, Json], began: datetime) -> Iterator[ForeignItem]:
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    text = texts_of([part for part in parts if part.get("type") == "text"]) or str(message.get("text") or "")
    attached = _attached(message.get("attachments"))
    calls = tuple(
        ToolCall(id=f"{message.get('uuid')}-{place}", name=str(part.get("name")), args=as_arguments(part.get("input")))
        for place, part in enumerate(parts)
        if part.get("type") == "tool_use"
    )
    files = message.get("files")
    if isinstance(files, list) and files:
        yield OmittedPart("attachment", len(files))
    said = "\n\n".join(one for one in (text, *attached) if one)
    if said or calls:
        yield talk.say(
            role_of(message.get("sender")),
            said,
            optional_moment(message.get("created_at"), began),
            text_field(message, "uuid", "the message"),
            calls=calls,
            thoughts=tuple(part for part in parts if part.get("type") == "thinking"),
        )


def _attached(value: Json) -> list[str]:
    """Return the texts that the person attached; the export holds what was extracted from the files."""
    found = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return [
        f"[{one.get('file_name') or 'attachment'}]\n{one['extracted_content']}"
        for one in found
        if isinstance(one.get("extracted_content"), str) and one["extracted_content"]
    ]
