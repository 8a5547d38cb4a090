"""`/v1/learnings`: lists, adds and removes what agents learned about working with the person."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.errors import NotFound
from recollectum.domain.learning import Learning
from recollectum.domain.notice import Notice
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.json_values import to_json
from recollectum.doors.rest.preconditions import StoredResult, noted, request_fingerprint, run_once
from recollectum.doors.rest.requests import AGENT, AddLearning, Category, IdempotencyKey, IdPath, OwnerQuery
from recollectum.doors.rest.responses import (
    CursorQuery,
    Limit,
    decode_cursor,
    describe_responses,
    encode_cursor,
    json_response,
)

router = APIRouter(route_class=KeyedRoute, tags=["learnings"])
_ONE = {"learning": Learning}
_LIST = "learnings"


@router.get("/v1/learnings", responses=describe_responses({"learnings": list[Learning], "next": str | None}))
def list_learnings(
    request: Request,
    agent: Annotated[str | None, Query(**AGENT)] = None,
    category: Annotated[Category | None, Query()] = None,
    limit: Limit = 50,
    cursor: CursorQuery = None,
    owner: OwnerQuery = None,
) -> Response:
    """List the newest learnings of an agent and those that all agents share."""
    place = decode_cursor(_LIST, cursor)
    vault = visitor_of(request).vault(owner)
    found = vault.learnings.list(agent=agent, category=category, cursor=place, limit=limit)
    following = encode_cursor(_LIST, found.next)
    return json_response({"learnings": found, "next": following})


@router.post("/v1/learnings", responses=describe_responses({"learning": Learning, "notice": Notice}))
def add_learning(
    request: Request, body: AddLearning, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Save a learning; one that is known already gets today's day. Shared ones take no agent."""
    visitor = visitor_of(request)
    learnings = visitor.vault(owner).learnings
    agent = None if body.shared else body.agent

    def work() -> tuple[StoredResult, Learning]:
        added = learnings.save(body.text, body.category, agent=agent, shared=body.shared)
        return {"id": added.id, "notice": to_json(added.notice)}, added

    def again(done: StoredResult) -> Learning:
        found = learnings.list(agent=agent, shared=body.shared, cursor=f"{done['id']}~", limit=1)
        if not found or found[0].id != done["id"]:
            raise NotFound("that learning no longer exists")
        return found[0]

    def show(done: StoredResult, learning: Learning) -> Response:
        return json_response({"learning": learning, "notice": noted(done)})

    fingerprint = request_fingerprint("learn", body.model_dump_json(), owner)
    return run_once(visitor, idempotency_key, fingerprint, work, again, show)


@router.delete("/v1/learnings/{memory_id}", responses=describe_responses(_ONE))
def remove_learning(request: Request, memory_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Forget a learning; it can be restored while its grace window lasts."""
    return json_response({"learning": visitor_of(request).vault(owner).learnings.forget(memory_id)})
