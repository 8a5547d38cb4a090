"""`/v1/review`: lists, approves and rejects proposals."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollectum.domain.notice import Notice
from recollectum.domain.proposal import Proposal
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.json_values import to_json
from recollectum.doors.rest.preconditions import StoredResult, noted, request_fingerprint, run_once
from recollectum.doors.rest.requests import Approve, IdempotencyKey, IdPath, OwnerQuery
from recollectum.doors.rest.responses import (
    CursorQuery,
    Limit,
    decode_cursor,
    describe_responses,
    encode_cursor,
    json_response,
)

if TYPE_CHECKING:
    from recollectum.vault.review.service import Review

router = APIRouter(route_class=KeyedRoute, tags=["review"])
_ONE = {"proposal": Proposal}
_LIST = "proposals"


@router.get("/v1/review", responses=describe_responses({"proposals": list[Proposal], "next": str | None}))
def list_proposals(
    request: Request,
    decision: Literal["waiting", "approved", "rejected", "stale"] = "waiting",
    limit: Limit = 50,
    cursor: CursorQuery = None,
    owner: OwnerQuery = None,
) -> Response:
    """List the newest proposals."""
    place = decode_cursor(_LIST, cursor)
    found = visitor_of(request).vault(owner).admin.review.list(decision=decision, cursor=place, limit=limit)
    following = encode_cursor(_LIST, found.next)
    return json_response({"proposals": found, "next": following})


@router.get("/v1/review/{proposal_id}", responses=describe_responses({"proposal": Proposal, "diff": list[str]}))
def get_proposal(request: Request, proposal_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Return one proposal, the texts it is based on, and what it would change."""
    review = visitor_of(request).vault(owner).admin.review
    return json_response({"proposal": review.get(proposal_id), "diff": review.diff(proposal_id)})


@router.post(
    "/v1/review/{proposal_id}/approval", responses=describe_responses({"proposal": Proposal, "notice": Notice})
)
def approve_proposal(
    request: Request,
    proposal_id: IdPath,
    body: Approve | None = None,
    owner: OwnerQuery = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Approve a proposal, in its own text or another."""
    words = body.content if body else None
    fingerprint = request_fingerprint(f"approve {proposal_id}", words or "", owner)

    def show(done: StoredResult, proposal: Proposal) -> Response:
        return json_response({"proposal": proposal, "notice": noted(done)})

    return _decided(
        request, owner, idempotency_key, fingerprint, lambda review: review.approve(proposal_id, words), show
    )


@router.post("/v1/review/{proposal_id}/rejection", responses=describe_responses(_ONE))
def reject_proposal(
    request: Request, proposal_id: IdPath, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Reject a proposal for good; the same one is never proposed again."""
    fingerprint = request_fingerprint(f"reject {proposal_id}", "", owner)
    return _decided(request, owner, idempotency_key, fingerprint, lambda review: review.reject(proposal_id), _show)


def _decided(
    request: Request,
    owner: str | None,
    key: str | None,
    fingerprint: bytes,
    decide: Callable[["Review"], Proposal],
    show: Callable[[StoredResult, Proposal], Response],
) -> Response:
    visitor = visitor_of(request)
    review = visitor.vault(owner).admin.review

    def work() -> tuple[StoredResult, Proposal]:
        decided = decide(review)
        return {"id": decided.id, "notice": to_json(decided.notice)}, decided

    def again(done: StoredResult) -> Proposal:
        return review.get(str(done["id"]))

    return run_once(visitor, key, fingerprint, work, again, show)


def _show(_: StoredResult, proposal: Proposal) -> Response:
    return json_response({"proposal": proposal})
