"""`/v1/imports`: takes conversations and memories that a program on another machine read from its files."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from recollectum.domain.errors import Denied, NotFound
from recollectum.domain.message import Json
from recollectum.domain.notice import Notice
from recollectum.domain.session import Session
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.requests import Body, Id, Importance, OwnerQuery, Text, Time, parse_time
from recollectum.doors.rest.responses import describe_responses, json_response
from recollectum.transfer.records import message_from_record, session_from_record
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignConversation, ForeignItem, ForeignMemory
from recollectum.vault.imports.service import handed_in
from recollectum.vault.vault import Vault

router = APIRouter(route_class=KeyedRoute, tags=["imports"])
_MOST = 2000
_DONE = {
    "session": Session | None,
    "added": int,
    "known": int,
    "memories": int,
    "known_memories": int,
    "echoes": int,
    "left_out": Mapping[str, int],
    "damage": list[DamagedPart],
    "import_id": str | None,
    "undone_by": str | None,
    "notice": Notice,
}


class ImportedMemory(Body):
    """A durable text that another program keeps."""

    native_id: Annotated[str, Field(min_length=1, max_length=1000)]
    text: Text
    at: Time
    importance: Importance = 0.5
    key: Annotated[str, Field(max_length=64)] | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class AddImport(Body):
    """One conversation, or a part of it, with its own ids and times, as a transcript has them."""

    session: dict[str, Any]
    messages: Annotated[list[dict[str, Any]], Field(max_length=_MOST, default_factory=list)]
    memories: Annotated[list[ImportedMemory], Field(max_length=_MOST, default_factory=list, fail_fast=True)]
    #: `transcript` is one of ours, whose messages have their trust; of another program they are `imported`.
    origin: Literal["transcript", "program"] = "transcript"
    import_id: Id | None = None
    mine: bool = False
    foreign: bool = False


@router.post("/v1/imports", responses=describe_responses(_DONE))
def add_import(request: Request, body: AddImport, owner: OwnerQuery = None) -> Response:
    """Import a conversation, or a part of it; what is here already is not doubled. Parts share an `import_id`."""
    vault = visitor_of(request).vault(owner)
    if body.origin == "program" and body.import_id is not None:
        return json_response(_of_program(vault, body, body.import_id))
    session = session_from_record(cast("Json", body.session))
    said = [message_from_record(cast("Json", one)) for one in body.messages]
    adopted = vault.sessions.adopt(session, said, foreign=body.foreign, import_id=body.import_id)
    return json_response(
        {
            **_NOTHING,
            "session": _shown(vault, adopted.session.id),
            "added": adopted.added,
            "known": adopted.known,
            "echoes": adopted.echoes,
            "import_id": adopted.import_id,
            "notice": adopted.notice,
        }
    )


def _shown(vault: Vault, session_id: str) -> Session | None:
    """Return the conversation; None for a key that may write and not read, since it may be an old one."""
    try:
        return vault.sessions.get(session_id)
    except (Denied, NotFound):
        # An import that was undone is hidden, but its messages are still known.
        return None


_NOTHING: Mapping[str, object] = {"memories": 0, "known_memories": 0, "left_out": {}, "damage": [], "undone_by": None}


def _of_program(vault: Vault, body: AddImport, import_id: str) -> dict[str, object]:
    items: list[ForeignItem] = [ForeignConversation(session=session_from_record(cast("Json", body.session)))]
    items += [message_from_record(cast("Json", one)) for one in body.messages]
    items += [
        ForeignMemory(
            native_id=one.native_id,
            text=one.text,
            at=parse_time(one.at),
            importance=one.importance,
            key=one.key,
            extra=cast("Mapping[str, Json]", one.extra),
        )
        for one in body.memories
    ]
    done = vault.admin.imports.add(handed_in(items, import_id), mine=body.mine, foreign=body.foreign)
    (file,) = done.files
    return {
        "session": None,
        "added": file.added,
        "known": file.known,
        "memories": file.memories,
        "known_memories": file.known_memories,
        "echoes": file.echoes,
        "left_out": file.left_out,
        "damage": file.damage,
        "import_id": done.import_id,
        "undone_by": done.undone_by,
        "notice": done.notice,
    }
