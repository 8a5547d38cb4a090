"""Reads lists of memories as JSON: the exports of MemorySync, and session memory of Zep."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import BinaryIO

from recollectum.domain.message import Json
from recollectum.transfer.forms.building import EPOCH, Talk, optional_moment, role_of, text_digest, text_or_none
from recollectum.transfer.forms.json_files import read_object
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, ForeignMemory, OmittedPart, Progress

MEMORYSYNC = "memorysync"
MEMORYSYNC_NAME = "MemorySync export"
ZEP = "zep"
ZEP_NAME = "Zep session memory"
#: States in which a memory of MemorySync was deleted.
_DELETED = ("soft_deleted", "hard_delete_pending", "purged")


def memory_of(
    native: Json, text: Json, at: datetime, *, importance: Json = None, extra: Mapping[str, Json] | None = None
) -> Iterator[ForeignItem]:
    """Yield a memory, or the damage where it has no text; one whose text changed is another memory."""
    if not isinstance(text, str) or not text.strip():
        yield DamagedPart(f"memory {str(native)[:80]}", "it has no text")
        return
    weight = importance if isinstance(importance, (int, float)) and 0 <= importance <= 1 else 0.5
    kept = {name: value for name, value in (extra or {}).items() if value not in (None, {}, [])}
    yield ForeignMemory(
        native_id=f"{native} {text_digest(text)}", text=text, at=at, importance=float(weight), extra=kept
    )


def is_memorysync(value: Mapping[str, Json]) -> bool:
    """Return whether an object is an export of MemorySync."""
    return isinstance(value.get("memories"), list) and {"user_id", "generated_at"} <= value.keys()


def read_memorysync(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the memories of an export; deleted ones are left out."""
    value = read_object(file, progress)
    person = str(value.get("user_id"))
    # The time of the export is not the conversation's: the next export must be the same list.
    talk = Talk(MEMORYSYNC, person, EPOCH, person=person, title="MemorySync memories")
    yield talk.begins
    made = optional_moment(value.get("generated_at"), EPOCH)
    for one in _objects(value.get("memories")):
        if one.get("retention_status") in _DELETED:
            yield OmittedPart("deleted memory")
            continue
        at = optional_moment(one.get("created_at"), made)
        extra = {name: one.get(name) for name in ("tags", "source", "metadata", "summary")}
        yield from memory_of(one.get("id"), one.get("text"), at, importance=one.get("importance"), extra=extra)


def is_zep(value: Mapping[str, Json]) -> bool:
    """Return whether an object is the memory of a session of Zep: its messages with their role types."""
    found = _objects(value.get("messages"))
    return bool(found) and all("role_type" in one and "content" in one for one in found[:3])


def read_zep(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the messages of the session, and its facts as memories."""
    value = read_object(file, progress)
    messages, facts = _objects(value.get("messages")), _objects(value.get("relevant_facts"))
    began = min((optional_moment(one.get("created_at"), EPOCH) for one in messages), default=EPOCH)
    first = messages[0].get("uuid") if messages else None
    native = text_or_none(value.get("session_id")) or f"session of {first}"
    talk = Talk(ZEP, native, began)
    yield talk.begins
    for message in messages:
        text = message.get("content")
        if isinstance(text, str) and text:
            at = optional_moment(message.get("created_at"), began)
            yield talk.say(role_of(message.get("role_type")), text, at, text_or_none(message.get("uuid")))
    for fact in facts:
        at = optional_moment(fact.get("created_at"), began)
        yield from memory_of(fact.get("uuid"), fact.get("fact"), at)


def _objects(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
