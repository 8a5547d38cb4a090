"""Reads the conversations of Cursor from the key-value table of its global database."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Role, ToolCall
from recollectum.storage.foreign.database import ForeignDatabase, Value
from recollectum.transfer.foreign_json import as_object, parse
from recollectum.transfer.forms.building import EPOCH, Talk, as_arguments, optional_moment, text_or_none
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, OmittedPart, Progress

AGENT = "cursor"
NAME = "Cursor database"
_TABLE = "cursorDiskKV"
_COMPOSER = "composerData:"
_ROLES = {1: Role.USER, 2: Role.ASSISTANT}


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a database has the table of this form."""
    return tables.get(_TABLE, frozenset()) >= {"key", "value"}


def read(database: ForeignDatabase, progress: Progress) -> Iterator[ForeignItem]:
    """Yield every conversation with its messages."""
    for key, value in database.rows(_TABLE, ("key", "value"), order=("key",), starts=("key", _COMPOSER)):
        progress(1)
        native = str(key).removeprefix(_COMPOSER)
        try:
            composer = _object(value)
        except InvalidInput as error:
            yield DamagedPart(f"conversation {native[:80]}", str(error))
            continue
        began = optional_moment(composer.get("createdAt"), EPOCH)
        talk = Talk(
            AGENT,
            native,
            began,
            updated=optional_moment(composer.get("lastUpdatedAt"), began),
            title=text_or_none(composer.get("name")),
            channel="ide",
        )
        bubbles = list(_bubbles(database, native, composer))
        if bubbles:
            yield talk.begins
        for bubble in bubbles:
            yield from _message(talk, bubble, began) if isinstance(bubble, dict) else (bubble,)


def _bubbles(
    database: ForeignDatabase, native: str, composer: Mapping[str, Json]
) -> Iterator[dict[str, Json] | DamagedPart]:
    """Yield the messages: in the older form inside the conversation, in the newer one each under its key."""
    inside = composer.get("conversation")
    headers = composer.get("fullConversationHeadersOnly")
    listed = inside if isinstance(inside, list) and inside else headers if isinstance(headers, list) else []
    for one in listed:
        if not isinstance(one, dict):
            continue
        if listed is inside:
            yield one
            continue
        id_ = str(one.get("bubbleId"))
        try:
            for row in database.rows(_TABLE, ("value",), where={"key": f"bubbleId:{native}:{id_}"}):
                yield {**_object(row[0]), "bubbleId": id_, "type": one.get("type")}
        except InvalidInput as error:
            yield DamagedPart(f"message {id_[:80]}", str(error))


def _message(talk: Talk, bubble: Mapping[str, Json], began: datetime) -> Iterator[ForeignItem]:
    kind = bubble.get("type")
    role = _ROLES.get(kind) if isinstance(kind, int) else None
    images = bubble.get("images")
    if isinstance(images, list) and images:
        yield OmittedPart("attachment", len(images))
    text, tool = bubble.get("text"), bubble.get("toolFormerData")
    call = _call(tool, bubble) if isinstance(tool, dict) and tool.get("name") else None
    if role is not None and (call or (isinstance(text, str) and text)):
        yield talk.say(
            role,
            text if isinstance(text, str) else "",
            optional_moment(bubble.get("createdAt"), began),
            text_or_none(bubble.get("bubbleId")),
            calls=(call,) if call else (),
        )


def _call(tool: Mapping[str, Json], bubble: Mapping[str, Json]) -> ToolCall:
    given = tool.get("rawArgs")
    try:
        args = parse(given) if isinstance(given, str) else given
    except InvalidInput:
        args = given
    id_ = str(tool.get("toolCallId") or bubble.get("bubbleId"))
    return ToolCall(id=id_, name=str(tool.get("name")), args=as_arguments(args), result=tool.get("result"))


def _object(value: Value) -> dict[str, Json]:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise InvalidInput("its value is not a text")
    return as_object(parse(text), "its value")
