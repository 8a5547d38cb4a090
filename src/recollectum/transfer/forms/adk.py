"""Reads the sessions database of the Agent Development Kit, which Gaia uses too."""

from collections.abc import Iterator, Mapping

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Role, ToolCall, ToolStatus
from recollectum.storage.foreign.database import ForeignDatabase, Value
from recollectum.transfer.foreign_json import as_object, parse
from recollectum.transfer.forms.building import Talk, as_arguments, moment, optional_moment, text_or_none, texts_of
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, OmittedPart, Progress

AGENT = "adk"
NAME = "ADK sessions database"
_OLD = (
    "it is a sessions database of the first form of ADK, which holds pickled objects that could run code; convert it "
    "with: python -m google.adk.sessions.migration.migrate_from_sqlalchemy_pickle"
)


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a database has the tables of this form; raise for its first form."""
    if not {"sessions", "events"} <= tables.keys() or not {"app_name", "user_id", "session_id"} <= tables["events"]:
        return False
    if "event_data" not in tables["events"]:
        raise InvalidInput(_OLD)
    return True


def read(database: ForeignDatabase, progress: Progress) -> Iterator[ForeignItem]:
    """Yield every session with its events, oldest first."""
    columns = ("app_name", "user_id", "id", "create_time", "update_time")
    for app, user, id_, created, updated in database.rows(
        "sessions", columns, order=("create_time", "app_name", "user_id", "id")
    ):
        try:
            began = moment(_json(created), "create_time")
            talk = Talk(
                AGENT,
                "/".join((str(app), str(user), str(id_))),
                began,
                updated=optional_moment(_json(updated), began),
                person=str(user),
                channel=str(app),
                extra={"session": str(id_)},
            )
        except InvalidInput as error:
            yield DamagedPart(f"session {id_!r}", str(error))
            continue
        yield talk.begins
        where = {"app_name": app, "user_id": user, "session_id": id_}
        for event_id, data in database.rows("events", ("id", "event_data"), where=where, order=("timestamp", "id")):
            progress(1)
            try:
                yield from _event(talk, _object(data))
            except InvalidInput as error:
                yield DamagedPart(f"event {event_id!r}", str(error))


def _event(talk: Talk, event: Mapping[str, Json]) -> Iterator[ForeignItem]:
    content = event.get("content")
    found = content.get("parts") if isinstance(content, dict) else None
    parts = [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []
    files = sum(1 for part in parts if _either(part, "inline_data", "inlineData", "file_data", "fileData"))
    if files:
        yield OmittedPart("attachment", files)
    spoken = [part for part in parts if part.get("thought") is not True]
    text = texts_of(spoken)
    calls = tuple(
        call
        for part in parts
        for call in (
            _call(part, "function_call", "functionCall", answered=False),
            _call(part, "function_response", "functionResponse", answered=True),
        )
        if call
    )
    author = str(event.get("author") or "")
    answered = bool(calls) and all(call.status is ToolStatus.COMPLETE for call in calls)
    role = Role.USER if author == "user" else Role.TOOL if answered and not text else Role.ASSISTANT
    if text or calls:
        yield talk.say(
            role,
            text,
            moment(event.get("timestamp"), "timestamp"),
            text_or_none(event.get("id")),
            calls=calls,
            thoughts=tuple(part for part in parts if part.get("thought") is True),
            extra={"author": author} if author not in ("", "user") else {},
        )


def _call(part: Mapping[str, Json], *names: str, answered: bool) -> ToolCall | None:
    value = _either(part, *names)
    if not isinstance(value, dict):
        return None
    return ToolCall(
        id=str(value.get("id")),
        name=str(value.get("name")),
        args={} if answered else as_arguments(value.get("args")),
        result=value.get("response") if answered else None,
        status=ToolStatus.COMPLETE if answered else ToolStatus.PENDING,
    )


def _either(part: Mapping[str, Json], *names: str) -> Json:
    return next((part[name] for name in names if part.get(name) is not None), None)


def _object(value: Value) -> dict[str, Json]:
    if not isinstance(value, str):
        raise InvalidInput("event_data is not a text")
    return as_object(parse(value), "event_data")


def _json(value: Value) -> Json:
    return value if isinstance(value, (int, float, str)) else None
