"""Writes a memory in the shapes of mem0, and reads what mem0 gives into the body of a document."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from recollectum.adapters.documents import Document, Folder, body_of
from recollectum.adapters.mem0.filters import SCOPES, Fields, Refused

if TYPE_CHECKING:
    from recollectum.domain.message import Json
    from recollectum.vault.vault import Vault

Result = dict[str, Any]
Messages = str | Mapping[str, str] | Sequence[Mapping[str, str]]

#: What no metadata can set: these come from the arguments of a call.
_IDENTITY = frozenset({*SCOPES, "actor_id"})
_SHOWN = (*SCOPES, "actor_id", "role", "expiration_date")
#: The scopes of a folder; a document without an app is where it was before there were apps.
_FOLDER = ("user_id", "agent_id", "run_id")


def messages_of(messages: Messages) -> list[Mapping[str, str]]:
    """Return the messages of a call, each with a role and a text; raise for anything else."""
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    several: object = [given] if isinstance(given, Mapping) else given
    if not isinstance(several, list | tuple):
        raise Refused("messages must be str, dict, or list[dict]")
    found = cast("Sequence[Mapping[str, str]]", several)
    for one in found:
        if not all(isinstance(one.get(name), str) for name in ("role", "content")):
            raise Refused("a message needs a text as role and as content; leave others out")
    return list(found)


def body_of_message(
    message: Mapping[str, str], scope: Mapping[str, str], metadata: Fields | None, expires: str | None
) -> "dict[str, Json]":
    """Return the body of a new document."""
    text = message["content"]
    body: dict[str, Json] = {"memory": text, "role": message["role"], **scope}
    if message.get("name"):
        body["actor_id"] = message["name"]
    if expires is not None:
        body["expiration_date"] = expires
    kept = _without_identity(metadata or {})
    return {**body, "metadata": kept} if kept else body


def changed_body(
    document: Document, text: str | None, metadata: Fields | None, expires: str | None = None
) -> "dict[str, Json]":
    """Return the body of a document after a change; metadata is merged into what is there."""
    body = {name: value for name, value in document.body.items() if name not in ("expiration_date", "hash")}
    if text is not None:
        body["memory"] = text
    if metadata is not None:
        known = body.get("metadata")
        body["metadata"] = {**(known if isinstance(known, dict) else {}), **_without_identity(metadata)}
    return {**body, "expiration_date": expires} if expires else body


def _without_identity(metadata: Fields) -> "dict[str, Json]":
    return {name: cast("Json", value) for name, value in metadata.items() if name not in _IDENTITY}


def folder_of(scope: Mapping[str, str]) -> Folder:
    """Return the folder in which a document of these ids is kept."""
    return tuple(scope.get(name, "") for name in _FOLDER)


def lifetime(expiration_date: str | None, vault: "Vault") -> timedelta | None:
    """Return the time until the end of a day; raise when it is over, or is no day."""
    if expiration_date is None:
        return None
    try:
        end = datetime.combine(date.fromisoformat(expiration_date), datetime.max.time(), UTC)
    except ValueError:
        raise Refused("expiration_date must be a valid date in YYYY-MM-DD format.") from None
    left = end - vault.admin.clock().now
    if left <= timedelta(0):
        raise Refused("expiration_date is over; give today or a later day, or delete the memory")
    return left


def _hash(text: str) -> str:
    # Not stored: a search would read it, and a changed text would have a wrong one.
    return hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def id_of(memory_id: str, vault: "Vault") -> str:
    """Return the id by which a memory is found without its user."""
    return f"{memory_id}@{vault.owner}"


def added(memory_id: str, text: str) -> Result:
    """Return what `add` says of one memory."""
    return {"id": memory_id, "memory": text, "event": "ADD"}


def fields_of(document: Document) -> Fields:
    """Return what a filter compares."""
    metadata, memory = document.body.get("metadata"), document.memory
    times = {"created_at": memory.created_at.isoformat(), "updated_at": memory.updated_at.isoformat()}
    ids = {name: value for name, value in document.body.items() if name in _SHOWN}
    return {**(metadata if isinstance(metadata, Mapping) else {}), **times, **ids}


def shown(document: Document, vault: "Vault") -> Result:
    """Return a memory as mem0 shows it."""
    body, memory = document.body, document.memory
    changed = memory.updated_at.isoformat() if memory.version > 1 else memory.created_at.isoformat()
    return {
        "id": id_of(memory.id, vault),
        "memory": body["memory"],
        "hash": _hash(str(body["memory"])),
        "metadata": body.get("metadata"),
        "created_at": memory.created_at.isoformat(),
        "updated_at": changed,
        **{name: body[name] for name in _SHOWN if name in body},
    }


def versions_of(memory_id: str, vault: "Vault", document: Document) -> Iterator[Result]:
    """Return the history of a memory as mem0 shows it, oldest first."""
    before: str | None = None
    for version in vault.memories.history(document.memory.id).versions:
        after = str(body_of(version.content)["memory"]) if document.name else version.content
        yield {
            "id": f"{version.memory_id}:{version.version}",
            "memory_id": memory_id,
            "old_memory": before,
            "new_memory": after,
            "event": "ADD" if before is None else "UPDATE",
            "created_at": document.memory.created_at.isoformat(),
            "updated_at": version.recorded_at.isoformat(),
            "is_deleted": False,
            "actor_id": document.body.get("actor_id"),
            "role": document.body.get("role"),
        }
        before = after
