"""`/memory/query`, `/context` and `/profile`: what is known about something, and what a model gets to see of it."""

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Query as InQuery
from fastapi.responses import Response

from recollectum.doors.http.keyed import KeyedRoute, visitor_of
from recollectum.doors.rest.answers import described, document
from recollectum.doors.rest.bodies import BuildContext, Query
from recollectum.doors.rest.documents import Answered, ContextDocument, ProfileAnswer
from recollectum.doors.rest.fields import AGENT, OwnerQuery, when_or_none

router = APIRouter(route_class=KeyedRoute, tags=["recall"])


@router.post("/memory/query", responses=described(Answered))
def query(request: Request, body: Query, owner: OwnerQuery = None) -> Response:
    """What was remembered and said about a text, best first, each hit with its place and its reasons."""
    hits = (
        visitor_of(request)
        .vault(owner)
        .recall(
            body.query,
            limit=body.limit,
            tokens=body.tokens,
            source=body.source,
            session_id=body.session_id,
            kind=body.kind,
            speaker=body.speaker,
            agent=body.agent,
            channel=body.channel,
            trust=body.trust,
            untrusted=body.untrusted,
            since=when_or_none(body.since),
            until=when_or_none(body.until),
        )
    )
    return document({"hits": list(hits), "rung": hits.rung, "degraded": hits.degraded, "held_back": hits.held_back})


@router.post("/context", responses=described(ContextDocument))
def context(request: Request, body: BuildContext, owner: OwnerQuery = None) -> Response:
    """What a model would get to see: notes, profile, learnings, recalled texts, summary and the last turns."""
    made = (
        visitor_of(request)
        .vault(owner)
        .context(
            body.query,
            session_id=body.session_id,
            tokens=body.tokens,
            messages=body.messages,
            memories=body.memories,
            model=body.model,
            agent=body.agent,
        )
    )
    return document(made.to_dict())


@router.get("/profile", responses=described(ProfileAnswer))
def profile(
    request: Request, agent: Annotated[str | None, InQuery(**AGENT)] = None, owner: OwnerQuery = None
) -> Response:
    """Who the person is, in at most twenty points, each with the memories that say it."""
    return document({"profile": visitor_of(request).vault(owner).profile.get(agent=agent)})
