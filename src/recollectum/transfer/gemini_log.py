"""Gemini CLI's log of changes: JSON lines, replayed into the conversation record they stand for.

A line is the session's metadata, a message (the same id again replaces it), `{"$set": {…}}` (changes metadata; with
`messages`, replaces them all) or `{"$rewindTo": id}` (drops that message and all after it).
"""

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.transfer.fields import as_list, as_object
from recollectum.transfer.strict_json import parse


def record_of(text: str) -> dict[str, Json]:
    """The conversation record in a text, which is one object or a log of changes."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    # The first line of a log is an object; that of a record on several lines is not.
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
            # The program may be writing, or may have died writing, its last line.
            if number == lines[-1][0]:
                break
            raise InvalidInput(f"line {number} of the log cannot be read: {error}") from None
    return {**metadata, "messages": list(messages.values())}


def _apply(entry: dict[str, Json], metadata: dict[str, Json], messages: dict[str, Json]) -> None:
    rewind, id_ = entry.get("$rewindTo"), entry.get("id")
    if isinstance(rewind, str):
        ids = list(messages)
        # Like the program itself: an id that is not there is older than all that are.
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
