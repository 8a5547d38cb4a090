"""`/v1/memories` and its alias `/memory`: adds, lists, reads, edits and moves memories through their life cycle."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.errors import Conflict
from recollectum.domain.memory import Citation, Memory, SaveOutcome, SaveResult, State
from recollectum.domain.notice import Notice
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.http.problems import PreconditionFailed
from recollectum.doors.json_values import to_json
from recollectum.doors.rest.preconditions import (
    StoredResult,
    check_match,
    etag_of,
    noted,
    request_fingerprint,
    run_once,
)
from recollectum.doors.rest.requests import (
    AddMemory,
    EditMemory,
    IdempotencyKey,
    IdPath,
    IfMatch,
    KindName,
    MoveMemory,
    OwnerQuery,
    StateName,
    parse_optional_time,
)
from recollectum.doors.rest.responses import (
    CursorQuery,
    Limit,
    Responses,
    decode_cursor,
    describe_body,
    describe_responses,
    encode_cursor,
    json_response,
)
from recollectum.vault.memories.history import History

router = APIRouter(route_class=KeyedRoute, tags=["memories"])
_ONE = {"memory": Memory}
_EDITED = {"memory": Memory, "notice": Notice}
_LIST = "memories"
_CREATED: Responses = {201: describe_body(SaveResult, "Created.")}


@router.post("/memory/add", responses=describe_responses(SaveResult))
def add_memory(
    request: Request, body: AddMemory, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Save a text verbatim. With a key it replaces the text under that key; a duplicate is renewed."""
    return _saved(request, body, owner, idempotency_key)


@router.post("/v1/memories", responses=describe_responses(SaveResult, more=_CREATED))
def create_memory(
    request: Request, body: AddMemory, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Save a text: 201 when it is new; 200 for a duplicate, or when it replaced the text under its key."""
    return _saved(request, body, owner, idempotency_key, when_created=201)


def _saved(
    request: Request, body: AddMemory, owner: str | None, idempotency_key: str | None, *, when_created: int = 200
) -> Response:
    visitor = visitor_of(request)
    vault = visitor.vault(owner)
    valid_from, valid_to = parse_optional_time(body.valid_from), parse_optional_time(body.valid_to)
    if valid_from and valid_to and valid_to <= valid_from:
        raise Conflict("valid_to is not after valid_from; give a later one")

    def work() -> tuple[StoredResult, Memory]:
        saved = vault.memories.save(
            body.content,
            key=body.key,
            kind=body.kind,
            importance=body.importance,
            ttl=None if body.ttl_minutes is None else timedelta(minutes=body.ttl_minutes),
            valid_from=valid_from,
            valid_to=valid_to,
            message_id=body.message_id,
            agent=body.agent,
            project=body.project,
        )
        return {"id": saved.id, "outcome": saved.outcome, "notice": to_json(saved.notice)}, saved.memory

    def again(done: StoredResult) -> Memory:
        return vault.memories.get(str(done["id"]))

    def show(done: StoredResult, memory: Memory) -> Response:
        status = when_created if done["outcome"] == SaveOutcome.CREATED else 200
        shown = {"outcome": done["outcome"], "memory": memory, "notice": noted(done)}
        return json_response(shown, status=status, headers={"ETag": etag_of(memory)})

    fingerprint = request_fingerprint("add", body.model_dump_json(), owner)
    return run_once(visitor, idempotency_key, fingerprint, work, again, show)


@router.get("/v1/memories", responses=describe_responses({"memories": list[Memory], "next": str | None}))
@router.get("/memory", responses=describe_responses({"memories": list[Memory], "next": str | None}))
def list_memories(
    request: Request,
    state: StateName = "active",
    kind: Annotated[KindName | None, Query()] = None,
    limit: Limit = 50,
    cursor: CursorQuery = None,
    owner: OwnerQuery = None,
) -> Response:
    """List the newest memories in one state; `next` leads to older ones."""
    place = decode_cursor(_LIST, cursor)
    found = visitor_of(request).vault(owner).memories.list(state=state, kind=kind, cursor=place, limit=limit)
    following = encode_cursor(_LIST, found.next)
    return json_response({"memories": found, "next": following})


@router.get("/v1/memories/{memory_id}", responses=describe_responses(_ONE))
@router.get("/memory/{memory_id}", responses=describe_responses(_ONE))
def get_memory(request: Request, memory_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Return one memory, active or archived, with its ETag."""
    return _one(visitor_of(request).vault(owner).memories.get(memory_id))


@router.patch("/v1/memories/{memory_id}", responses=describe_responses(_EDITED))
@router.patch("/memory/{memory_id}", responses=describe_responses(_EDITED))
def edit_memory(
    request: Request, memory_id: IdPath, body: EditMemory, if_match: IfMatch = None, owner: OwnerQuery = None
) -> Response:
    """Change a memory and keep its previous version; with If-Match, only if it is unchanged since it was read."""
    vault = visitor_of(request).vault(owner)
    version = None
    if if_match is not None:
        read = vault.memories.get(memory_id)
        check_match(read, if_match)
        version = None if if_match.strip() == "*" else read.version
    try:
        changed = vault.memories.edit(
            memory_id, body.content, importance=body.importance, kind=body.kind, version=version
        )
    except Conflict:
        # Another caller changed it between the read and the write.
        if version is not None:
            raise PreconditionFailed("the memory changed since it was read; read it again") from None
        raise
    return json_response({"memory": changed, "notice": changed.notice}, headers={"ETag": etag_of(changed)})


@router.delete("/v1/memories/{memory_id}", responses=describe_responses(_ONE))
@router.delete("/memory/{memory_id}", responses=describe_responses(_ONE))
def forget_memory(request: Request, memory_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Delete a memory: it is hidden now, and destroyed when its grace window ends."""
    return _one(visitor_of(request).vault(owner).memories.forget(memory_id))


@router.post("/memory/{memory_id}/archive", responses=describe_responses(_ONE))
def archive_memory(
    request: Request, memory_id: IdPath, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Archive a memory: it is not recalled, but can still be read and restored."""
    return _moved(request, memory_id, State.ARCHIVED, owner, idempotency_key)


@router.post("/memory/{memory_id}/restore", responses=describe_responses(_ONE))
def restore_memory(
    request: Request, memory_id: IdPath, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Restore a memory from the archive, or from the trash while its grace window lasts."""
    return _moved(request, memory_id, State.ACTIVE, owner, idempotency_key)


@router.put("/v1/memories/{memory_id}/state", responses=describe_responses(_ONE))
def move_memory(
    request: Request,
    memory_id: IdPath,
    body: MoveMemory,
    owner: OwnerQuery = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Archive a memory, or restore it from the archive or the trash."""
    return _moved(request, memory_id, State(body.state), owner, idempotency_key)


@router.get("/v1/memories/{memory_id}/history", responses=describe_responses(History))
@router.get("/memory/{memory_id}/history", responses=describe_responses(History))
def memory_history(request: Request, memory_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Return all versions and events of a memory, oldest first."""
    return json_response(visitor_of(request).vault(owner).memories.history(memory_id))


@router.get("/v1/memories/{memory_id}/sources", responses=describe_responses({"sources": list[Citation]}))
@router.get("/memory/{memory_id}/sources", responses=describe_responses({"sources": list[Citation]}))
def memory_sources(request: Request, memory_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Return the places in conversations that a memory came from; none for a memory written by hand."""
    return json_response({"sources": visitor_of(request).vault(owner).memories.citations(memory_id)})


def _moved(request: Request, memory_id: str, to: State, owner: str | None, key: str | None) -> Response:
    visitor = visitor_of(request)
    vault = visitor.vault(owner)

    def work() -> tuple[StoredResult, Memory]:
        moved = vault.memories.move(memory_id, to)
        return {"id": moved.id}, moved

    def again(done: StoredResult) -> Memory:
        return vault.memories.get(str(done["id"]))

    fingerprint = request_fingerprint(f"move {memory_id} {to}", "", owner)
    return run_once(visitor, key, fingerprint, work, again, lambda _, memory: _one(memory))


def _one(memory: Memory) -> Response:
    return json_response({"memory": memory}, headers={"ETag": etag_of(memory)})
