"""Reads the database of opencode: sessions, messages and their parts."""

from collections.abc import Iterator, Mapping

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Part, ToolCall, ToolStatus
from recollectum.storage.foreign.database import ForeignDatabase, Value
from recollectum.transfer.foreign_json import as_object, parse
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

AGENT = "opencode"
NAME = "opencode database"
_STATES = {"completed": ToolStatus.COMPLETE, "error": ToolStatus.FAILED, "running": ToolStatus.APPROVED}


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a database has the tables of this form."""
    return {"session", "message", "part"} <= tables.keys() and {"message_id", "data"} <= tables["part"]


def read(database: ForeignDatabase, progress: Progress) -> Iterator[ForeignItem]:
    """Yield every session with its messages, oldest first."""
    columns = ("id", "title", "directory", "time_created", "time_updated", "parent_id")
    for id_, title, folder, created, updated, parent in database.rows("session", columns, order=("time_created", "id")):
        try:
            began = moment(_number(created), "time_created")
            extra: dict[str, Json] = {"directory": str(folder)} if folder else {}
            if parent:
                extra["parent"] = str(parent)
            talk = Talk(
                AGENT,
                str(id_),
                began,
                updated=optional_moment(_number(updated), began),
                title=text_or_none(title if isinstance(title, str) else None),
                channel="cli",
                extra=extra,
            )
        except InvalidInput as error:
            yield DamagedPart(f"session {id_!r}", str(error))
            continue
        yield talk.begins
        yield from _messages(database, talk, str(id_), progress)


def _messages(database: ForeignDatabase, talk: Talk, session_id: str, progress: Progress) -> Iterator[ForeignItem]:
    rows = database.rows(
        "message", ("id", "time_created", "data"), where={"session_id": session_id}, order=("time_created", "id")
    )
    for id_, created, data in rows:
        progress(1)
        try:
            yield from _message(database, talk, str(id_), created, data)
        except InvalidInput as error:
            yield DamagedPart(f"message {id_!r}", str(error))


def _message(database: ForeignDatabase, talk: Talk, id_: str, created: Value, data: Value) -> Iterator[ForeignItem]:
    about = _object(data)
    parts = [_object(row[0]) for row in database.rows("part", ("data",), where={"message_id": id_}, order=("id",))]
    files = sum(1 for part in parts if part.get("type") == "file")
    if files:
        yield OmittedPart("attachment", files)
    # A part that the program made for its model is `synthetic`.
    text = texts_of([part for part in parts if part.get("type") == "text" and part.get("synthetic") is not True])
    calls = tuple(_call(part) for part in parts if part.get("type") == "tool")
    if text or calls:
        yield talk.say(
            role_of(about.get("role")),
            text,
            moment(_number(created), "time_created"),
            id_,
            calls=calls,
            thoughts=tuple(part for part in parts if part.get("type") == "reasoning"),
            model=text_or_none(about.get("modelID")),
        )


def _call(part: Part) -> ToolCall:
    state = part.get("state")
    known = state if isinstance(state, dict) else {}
    return ToolCall(
        id=str(part.get("callID")),
        name=str(part.get("tool")),
        args=as_arguments(known.get("input")),
        result=known.get("output"),
        status=_STATES.get(str(known.get("status")), ToolStatus.PENDING),
    )


def _object(value: Value) -> dict[str, Json]:
    if not isinstance(value, str):
        raise InvalidInput("its data is not a text")
    return as_object(parse(value), "its data")


def _number(value: Value) -> Json:
    return value if isinstance(value, (int, float, str)) else None
