"""`/review`: what was found in conversations and waits for a yes or a no."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollectum.doors.http.keyed import KeyedRoute, visitor_of
from recollectum.doors.rest.answers import described, document
from recollectum.doors.rest.bodies import Approve
from recollectum.doors.rest.documents import OneProposal, ProposalDiff, ProposalPage
from recollectum.doors.rest.fields import IdempotencyKey, IdPath, OwnerQuery
from recollectum.doors.rest.once import Done, once, request_of
from recollectum.doors.rest.paging import CursorQuery, Limit, from_cursor, to_cursor

router = APIRouter(route_class=KeyedRoute, tags=["review"])
_LIST = "proposals"


@router.get("/review", responses=described(ProposalPage))
def list_proposals(
    request: Request,
    decision: Literal["waiting", "approved", "rejected", "stale"] = "waiting",
    limit: Limit = 50,
    cursor: CursorQuery = None,
    owner: OwnerQuery = None,
) -> Response:
    """The newest proposals."""
    before = from_cursor(_LIST, cursor)
    found = visitor_of(request).vault(owner).review.page(decision=decision, before=before, limit=limit)
    following = to_cursor(_LIST, found[-1].id) if len(found) == limit else None
    return document({"proposals": found, "next": following})


@router.get("/review/{proposal_id}", responses=described(ProposalDiff))
def get_proposal(request: Request, proposal_id: IdPath, owner: OwnerQuery = None) -> Response:
    """One proposal, the words it came from, and what it would change."""
    review = visitor_of(request).vault(owner).review
    return document({"proposal": review.get(proposal_id), "diff": review.diff(proposal_id)})


@router.post("/review/{proposal_id}/approve", responses=described(OneProposal))
def approve_proposal(
    request: Request,
    proposal_id: IdPath,
    body: Approve | None = None,
    owner: OwnerQuery = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Do what is proposed, as it stands or in other words."""
    visitor = visitor_of(request)
    review = visitor.vault(owner).review
    words = body.content if body else None

    def work() -> Done:
        return {"id": review.approve(proposal_id, words).id}

    def show(done: Done) -> Response:
        return document({"proposal": review.get(str(done["id"]))})

    return once(visitor, idempotency_key, request_of(f"approve {proposal_id}", words or "", owner), work, show)


@router.post("/review/{proposal_id}/reject", responses=described(OneProposal))
def reject_proposal(
    request: Request, proposal_id: IdPath, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Say no for good: the same is never proposed again."""
    visitor = visitor_of(request)
    review = visitor.vault(owner).review

    def work() -> Done:
        return {"id": review.reject(proposal_id).id}

    def show(done: Done) -> Response:
        return document({"proposal": review.get(str(done["id"]))})

    return once(visitor, idempotency_key, request_of(f"reject {proposal_id}", "", owner), work, show)
