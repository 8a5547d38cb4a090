"""Reads the memories and messages of somebody's bundle as imported text; a person's own bundle is loaded as it is."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.transfer.foreign_json import as_object, parse
from recollectum.transfer.forms.building import EPOCH, Talk, optional_moment, role_of, text_field
from recollectum.transfer.forms.memory_lists import memory_of
from recollectum.transfer.jsonl import bounded_lines
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, OmittedPart, Progress

AGENT = "recollectum"
MEMORIES_NAME = "memories of a Recollectum bundle"
MESSAGES_NAME = "messages of a Recollectum bundle"
_OF_MEMORIES = frozenset(("id", "content", "kind", "state", "fingerprint", "created_at"))
_OF_MESSAGES = frozenset(("id", "session_id", "position", "role", "text", "created_at"))
#: The states of a memory that its owner has not forgotten.
_KEPT = frozenset(("active", "archived"))


def has_memories(line: bytes) -> bool:
    """Return whether a line is a row of the table of memories."""
    return _is_row(line, _OF_MEMORIES)


def has_messages(line: bytes) -> bool:
    """Return whether a line is a row of the table of messages."""
    return _is_row(line, _OF_MESSAGES)


def read_memories(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the memories that were not forgotten."""
    yield Talk(AGENT, "memories", EPOCH, title="memories of a bundle").begins
    for row in _rows(file, progress):
        if isinstance(row, DamagedPart):
            yield row
        elif row.get("state") not in _KEPT:
            yield OmittedPart("forgotten memory")
        else:
            at = optional_moment(row.get("created_at"), EPOCH)
            yield from memory_of(row.get("id"), row.get("content"), at, importance=row.get("importance"))


def read_messages(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the messages, each in its conversation; those of several conversations may take turns."""
    talks: dict[str, Talk] = {}
    current: Talk | None = None
    for number, row in enumerate(_rows(file, progress), start=1):
        if isinstance(row, DamagedPart):
            yield row
            continue
        try:
            session = text_field(row, "session_id", "the message")
            text, native = text_field(row, "text", "the message"), text_field(row, "id", "the message")
        except InvalidInput as error:
            yield DamagedPart(f"line {number}", str(error))
            continue
        at = optional_moment(row.get("created_at"), EPOCH)
        talk = talks.setdefault(session, Talk(AGENT, session, at))
        if talk is not current:
            current = talk
            yield talk.begins
        yield talk.say(role_of(row.get("role")), text, at, native)


def _rows(file: BinaryIO, progress: Progress) -> Iterator["Mapping[str, Json] | DamagedPart"]:
    for number, line in enumerate(bounded_lines(file), start=1):
        progress(len(line))
        if line.strip():
            try:
                yield as_object(parse(line.decode("utf-8", "replace")), "the line")
            except InvalidInput as error:
                yield DamagedPart(f"line {number}", str(error))


def _is_row(line: bytes, fields: frozenset[str]) -> bool:
    try:
        found = parse(line.decode("utf-8", "replace"))
    except InvalidInput:
        return False
    return isinstance(found, dict) and fields <= found.keys()
