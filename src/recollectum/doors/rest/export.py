"""`/v1/exports`: streams everything as JSON lines."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from recollectum.domain.memory import State
from recollectum.domain.page import every
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.json_values import to_json
from recollectum.doors.rest.requests import IdPath, OwnerQuery
from recollectum.doors.rest.responses import Responses, describe_responses
from recollectum.transfer.sessions import export_session
from recollectum.vault.vault import Vault

router = APIRouter(route_class=KeyedRoute, tags=["export"])
_LINES = "application/x-ndjson"
_BATCH = 500
_STREAM: Responses = {200: {"description": "One JSON object a line.", "content": {_LINES: {}}}}


@router.get("/v1/exports/memories", responses=describe_responses(None, more=_STREAM), response_class=StreamingResponse)
def export_memories(request: Request, owner: OwnerQuery = None) -> Response:
    """Export every active or archived memory, newest first."""
    return _sent(_memories(visitor_of(request).vault(owner)))


@router.get("/v1/exports/sessions", responses=describe_responses(None, more=_STREAM), response_class=StreamingResponse)
def export_sessions(request: Request, owner: OwnerQuery = None) -> Response:
    """Export every conversation as its transcript, one after the other."""
    return _sent(_sessions(visitor_of(request).vault(owner)))


@router.get(
    "/v1/exports/sessions/{session_id}",
    responses=describe_responses(None, more=_STREAM),
    response_class=StreamingResponse,
)
def export_one_session(request: Request, session_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Export one conversation as its transcript, which `recollectum sessions import` reads."""
    return _sent(export_session(visitor_of(request).vault(owner), session_id))


def _sent(lines: Iterable[bytes]) -> Response:
    # The first line is read before the answer begins, so that a refusal gets its own status.
    reading = iter(lines)
    first = next(reading, None)
    return StreamingResponse(reading if first is None else chain([first], reading), media_type=_LINES)


def _memories(vault: Vault) -> Iterator[bytes]:
    for state in (State.ACTIVE, State.ARCHIVED):
        for memory in every(lambda cursor, state=state: vault.memories.list(state=state, cursor=cursor, limit=_BATCH)):
            yield json.dumps(to_json(memory), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _sessions(vault: Vault) -> Iterator[bytes]:
    for session in every(lambda cursor: vault.sessions.list(cursor=cursor, limit=_BATCH)):
        yield from export_session(vault, session.id)
