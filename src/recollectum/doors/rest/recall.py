"""`/v1/recall` (also `/memory/query`), `/v1/context` and `/v1/profile`: searches the vault and builds contexts."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Query as InQuery
from fastapi.responses import Response

from recollectum.domain.context import Profile
from recollectum.domain.hit import ArchivedMatches, Hit, SearchMode
from recollectum.domain.message import Json
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.requests import AGENT, BuildContext, OwnerQuery, QueryMemories, parse_optional_time
from recollectum.doors.rest.responses import describe_responses, json_response

router = APIRouter(route_class=KeyedRoute, tags=["recall"])
_HITS = {
    "hits": list[Hit],
    "rung": SearchMode,
    "degraded": str | None,
    "held_back": int,
    "calibrated": bool,
    "replica": bool,
    "nearest": Hit | None,
    "archived": ArchivedMatches,
}
_CONTEXT = {"text": str, "messages": list[Mapping[str, Json]], "ledger": Mapping[str, Json], "conversation": str}


@router.post("/v1/recall", responses=describe_responses(_HITS))
@router.post("/memory/query", responses=describe_responses(_HITS))
def query(request: Request, body: QueryMemories, owner: OwnerQuery = None) -> Response:
    """Search memories and conversations, best hits first, each with its source and its reasons."""
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
            since=parse_optional_time(body.since),
            until=parse_optional_time(body.until),
            min_score=body.min_score,
            answers_only=body.answers_only,
            project=body.project,
            prefer_project=body.prefer_project,
            personal=body.personal,
        )
    )
    return json_response(
        {
            "hits": list(hits),
            "rung": hits.rung,
            "degraded": hits.degraded,
            "held_back": hits.held_back,
            "calibrated": hits.calibrated,
            "replica": hits.replica,
            "nearest": hits.nearest,
            "archived": hits.archived,
        }
    )


@router.post("/v1/context", responses=describe_responses(_CONTEXT))
def context(request: Request, body: BuildContext, owner: OwnerQuery = None) -> Response:
    """Return what a model would see: notes, profile, learnings, recalled texts, summary and the last turns."""
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
            project=body.project,
            all_projects=body.all_projects,
        )
    )
    return json_response({**made.to_dict(), "conversation": made.conversation})


@router.get("/v1/profile", responses=describe_responses({"profile": Profile | None}))
def profile(
    request: Request, agent: Annotated[str | None, InQuery(**AGENT)] = None, owner: OwnerQuery = None
) -> Response:
    """Return the person's profile in at most twenty points, each with its memories."""
    return json_response({"profile": visitor_of(request).vault(owner).admin.profile.find(agent=agent)})
