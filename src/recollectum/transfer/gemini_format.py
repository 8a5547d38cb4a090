"""Translates Gemini CLI's roles, states, times and contents, and replays its change log into a record."""

from datetime import UTC, datetime
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Content, Json, Part, Role, TokenCount, ToolStatus
from recollectum.transfer.foreign_json import as_list, as_object, as_time, parse
from recollectum.transfer.records import tokens_from

_ROLES = {
    "user": Role.USER,
    "gemini": Role.ASSISTANT,
    "info": Role.INFO,
    "error": Role.ERROR,
    "warning": Role.WARNING,
}
_TYPES = {role: word for word, role in _ROLES.items()} | {Role.TOOL: "user", Role.SYSTEM: "info"}
# The words of the record's first form are ours; later versions of the program use those of its scheduler.
_STATUSES: dict[str, ToolStatus] = {status.value: status for status in ToolStatus} | {
    "validating": ToolStatus.PENDING,
    "awaiting_approval": ToolStatus.PENDING,
    "scheduled": ToolStatus.APPROVED,
    "executing": ToolStatus.APPROVED,
    "cancelled": ToolStatus.DENIED,
    "success": ToolStatus.COMPLETE,
    "error": ToolStatus.FAILED,
}


def role_of(word: Json) -> Role:
    """Return the role for a message's type; an unknown type is a notice."""
    return _ROLES.get(word, Role.INFO) if isinstance(word, str) else Role.INFO


def speaking_role(word: Json, content: Content) -> Role:
    """Return the role of a message: a user message with tool results only is the tool's."""
    is_result = isinstance(content, tuple) and content and all("functionResponse" in part for part in content)
    return Role.TOOL if word == "user" and is_result else role_of(word)


def type_of(role: Role) -> str:
    """Return the type for a role."""
    return _TYPES[role]


def status_of(word: Json) -> ToolStatus:
    """Return the state for a word; an unknown word means not done."""
    return _STATUSES.get(word, ToolStatus.PENDING) if isinstance(word, str) else ToolStatus.PENDING


def content_of(value: Json, place: str = "content") -> Content:
    """Return a content in any of its forms: a text, a part, or a list of texts and parts."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    items = as_list(value, place) if isinstance(value, list) else [value]
    return tuple(_part_of(item, f"{place}[{index}]") for index, item in enumerate(items))


def _part_of(item: Json, place: str) -> Part:
    return {"text": item} if isinstance(item, str) else as_object(item, place)


def tokens_of(value: Json, place: str = "tokens") -> TokenCount | None:
    """Return the token counts, or None."""
    return None if value is None else tokens_from(value, place)


def moment_of(value: Json) -> datetime | None:
    """Return a time, or None."""
    return None if value is None else as_time(value, "time")


def moment(time: datetime) -> str:
    """Return a time in the program's format: with milliseconds, and with more digits only if needed."""
    if time.tzinfo is None:
        raise InvalidInput(f"time {time} has no zone; give it in UTC")
    precision = "microseconds" if time.microsecond % 1000 else "milliseconds"
    return time.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def nothing_or(value: Json) -> object:
    """Return the value, or None if it is empty."""
    return cast("object", value) or None


def record_of(text: str) -> dict[str, Json]:
    """Return the conversation record in a text, which is one object or a change log."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    # The first line of a change log is an object; that of a record on several lines is not.
    if len(lines) < 2 or not _is_object(lines[0][1]):
        return as_object(parse(text), "record")
    return _replay(lines)


def _is_object(line: str) -> bool:
    try:
        return isinstance(parse(line), dict)
    except InvalidInput:
        return False


def _replay(lines: list[tuple[int, str]]) -> dict[str, Json]:
    metadata = as_object(parse(lines[0][1]), "it")
    if "sessionId" not in metadata:
        raise InvalidInput("the first line of the log names no sessionId")
    messages: dict[str, Json] = {}
    for number, line in lines[1:]:
        try:
            _apply(as_object(parse(line), "it"), metadata, messages)
        except InvalidInput as error:
            # The program may be writing, or may have crashed while writing, its last line.
            if number == lines[-1][0]:
                break
            raise InvalidInput(f"line {number} of the log cannot be read: {error}") from None
    return {**metadata, "messages": list(messages.values())}


def _apply(entry: dict[str, Json], metadata: dict[str, Json], messages: dict[str, Json]) -> None:
    rewind, id_ = entry.get("$rewindTo"), entry.get("id")
    if isinstance(rewind, str):
        ids = list(messages)
        # Like the program itself: an id that is missing counts as older than all others.
        for dropped in ids[ids.index(rewind) if rewind in messages else 0 :]:
            del messages[dropped]
    elif "$set" in entry:
        changes = as_object(entry["$set"], "$set")
        if "messages" in changes:
            replaced = {_id_of(message): message for message in as_list(changes.pop("messages"), "$set.messages")}
            messages.clear()
            messages.update(replaced)
        metadata.update(changes)
    elif isinstance(id_, str):
        messages[id_] = entry
    elif "sessionId" in entry:
        metadata.update(entry)


def _id_of(message: Json) -> str:
    id_ = as_object(message, "$set.messages[]").get("id")
    if not isinstance(id_, str):
        raise InvalidInput("$set.messages[].id is not a text")
    return id_
