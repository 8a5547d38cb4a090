"""Serves mem0's client: `/v3/memories`, `/v1/memories/…/`, `/v1/batch/`, `/v1/entities/` and `/v1/ping/`."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from recollectum.adapters.mem0 import RecollectumMemory
from recollectum.adapters.mem0.entities import delete_entity, list_entities
from recollectum.adapters.mem0.filters import SCOPES
from recollectum.adapters.mem0.memory import UNCHANGED
from recollectum.domain.errors import NotFound
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.mem0.bodies import (
    Mem0Add,
    Mem0Changes,
    Mem0Deletion,
    Mem0List,
    Mem0Search,
    Mem0Update,
    MemoryId,
    PageNumber,
    PageSize,
    ScopeQuery,
    parse_moment,
    parse_scope_filters,
)
from recollectum.doors.rest.responses import describe_responses, json_response

router = APIRouter(route_class=KeyedRoute, tags=["mem0"])
_RESULTS = {"results": list[dict[str, Any]]}
_PAGE = {"count": int, "next": str | None, "previous": str | None, **_RESULTS}
_MESSAGE = {"message": str}
_CHANGED = {**_MESSAGE, "notice": Notice}
_PING = {"status": str, "org_id": str, "project_id": str, "user_email": str | None}
#: Why nothing was extracted although the caller asked for it.
_KEPT = "no language model is configured, so the messages were kept as they are"
_TOP = 10
_ORGANISATION = "recollectum"
_KINDS = tuple(scope.removesuffix("_id") for scope in SCOPES)


def _memory(request: Request, told: list[Notice] | None = None) -> RecollectumMemory:
    """Return the memory of the person who asks; `told` gets what happens to texts on their way in."""
    visitor = visitor_of(request)
    on_notice = None if told is None else told.append
    return RecollectumMemory(visitor.recollectum, person=visitor.named(), on_notice=on_notice)


@router.get("/v1/ping/", responses=describe_responses(_PING))
def ping(request: Request) -> Response:
    """Tell mem0's client that its key is valid; there is one organisation, and a project is a person."""
    project = str(visitor_of(request).person or _ORGANISATION)
    return json_response({"status": "ok", "org_id": _ORGANISATION, "project_id": project, "user_email": None})


@router.post("/v3/memories/add/", responses=describe_responses({**_RESULTS, "notice": Notice}))
def mem0_add(request: Request, body: Mem0Add) -> Response:
    """Add messages as memories; with `infer` a language model, if there is one, extracts what is worth keeping."""
    body.check_options()
    told: list[Notice] = []
    memory = _memory(request, told)
    said = [one.model_dump(exclude_none=True) for one in body.messages]
    made = memory.add(
        said, **body.scope(), metadata=body.metadata, expiration_date=body.expiration_date, infer=body.infer
    )
    # A client of the older interface reads the text there.
    results = [{**one, "data": {"memory": one["memory"]}} for one in made["results"]]
    note = {"message": _KEPT} if body.infer and not memory.infers else {}
    return json_response({"results": results, "notice": _noticed(told), **note})


@router.post("/v3/memories/search/", responses=describe_responses(_RESULTS))
def mem0_search(request: Request, body: Mem0Search) -> Response:
    """Return the memories that have to do with a query, best first."""
    body.check_options()
    found = _memory(request).search(
        body.query,
        filters=_with(body.filters, body.metadata),
        top_k=body.top_k or _TOP,
        threshold=body.threshold or 0.0,
    )
    return json_response({"results": _cut(found["results"], body.fields)})


@router.post("/v3/memories/", responses=describe_responses(_PAGE))
def mem0_list(request: Request, body: Mem0List, page: PageNumber = 1, page_size: PageSize = 100) -> Response:
    """Return the memories that a filter takes, newest first, by pages."""
    body.check_options()
    since, until = parse_moment("start_date", body.start_date), parse_moment("end_date", body.end_date)
    found = _memory(request).get_all(filters=body.filters, top_k=sys.maxsize)["results"]
    # Texts of times in UTC: a day is before every time of that day, so the last day is compared by its length.
    kept = [
        one
        for one in found
        if (since is None or one["created_at"] >= since) and (until is None or one["created_at"][: len(until)] <= until)
    ]
    first = (page - 1) * page_size
    return json_response(
        {
            "count": len(kept),
            "next": _link(request, page + 1, page_size) if first + page_size < len(kept) else None,
            "previous": _link(request, page - 1, page_size) if page > 1 else None,
            "results": _cut(kept[first : first + page_size], body.fields),
        }
    )


@router.get("/v1/memories/{memory_id}/", responses=describe_responses({"id": str, "memory": str}))
def mem0_get(request: Request, memory_id: MemoryId) -> Response:
    """Return one memory in the shape of mem0."""
    memory = _memory(request)
    memory.shelf.get(memory_id)
    return json_response(memory.get(memory_id))


@router.put("/v1/memories/{memory_id}/", responses=describe_responses(_CHANGED))
def mem0_update(request: Request, memory_id: MemoryId, body: Mem0Update) -> Response:
    """Change text, metadata or expiration date of a memory; the previous version is kept."""
    body.check_options()
    expires = body.expiration_date if "expiration_date" in body.model_fields_set else UNCHANGED
    told: list[Notice] = []
    done = _memory(request, told).update(memory_id, body.text, body.metadata, expires)
    return json_response({**done, "notice": _noticed(told)})


@router.delete("/v1/memories/{memory_id}/", responses=describe_responses(_MESSAGE))
def mem0_delete(
    request: Request,
    memory_id: MemoryId,
    delete_linked: Annotated[bool, Query(description="No effect: what a memory replaced is not served again.")] = False,
) -> Response:
    """Delete a memory; it can be restored until its grace window ends."""
    del delete_linked
    return json_response(_memory(request).delete(memory_id))


@router.get("/v1/memories/{memory_id}/history/", responses=describe_responses(list[dict[str, Any]]))
def mem0_history(request: Request, memory_id: MemoryId) -> Response:
    """Return the versions of a memory, oldest first, in the shape of mem0."""
    memory = _memory(request)
    memory.shelf.get(memory_id)
    return json_response(memory.history(memory_id))


@router.delete("/v1/memories/", responses=describe_responses(_MESSAGE))
def mem0_delete_all(
    request: Request,
    user_id: ScopeQuery = None,
    agent_id: ScopeQuery = None,
    app_id: ScopeQuery = None,
    run_id: ScopeQuery = None,
    filters: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Delete all memories of a user, an agent, an app or a run."""
    named = {"user_id": user_id, "agent_id": agent_id, "app_id": app_id, "run_id": run_id}
    scope = {**parse_scope_filters(filters), **{name: value for name, value in named.items() if value is not None}}
    return json_response(_memory(request).delete_all(**scope))


@router.put("/v1/batch/", responses=describe_responses(_CHANGED))
def mem0_update_many(request: Request, body: Mem0Changes) -> Response:
    """Change several memories; when one of them is refused, none is changed."""
    told: list[Notice] = []
    _memory(request, told).update_many([(one.memory_id, one.text, one.metadata) for one in body.memories])
    done = {"message": f"Successfully updated {len(body.memories)} memories"}
    return json_response({**done, "notice": _noticed(told)})


@router.delete("/v1/batch/", responses=describe_responses(_MESSAGE))
def mem0_delete_many(request: Request, body: Mem0Deletion) -> Response:
    """Delete several memories; when one of them is not there, none is deleted."""
    _memory(request).delete_many([one.memory_id for one in body.memories])
    return json_response({"message": f"Successfully deleted {len(body.memories)} memories"})


@router.get("/v1/entities/", responses=describe_responses(_PAGE))
def mem0_entities(request: Request) -> Response:
    """List the users, agents, apps and runs that have memories."""
    found = list_entities(_memory(request).shelf)
    return json_response({"count": len(found), "next": None, "previous": None, "results": found})


@router.delete("/v2/entities/{kind}/{name}/", responses=describe_responses(_MESSAGE))
def mem0_delete_entity(
    request: Request,
    kind: Annotated[str, Path(max_length=256, description="user, agent, app or run.")],
    name: Annotated[str, Path(min_length=1, max_length=256)],
) -> Response:
    """Delete the memories of a user, an agent, an app or a run; nothing happens when it has none."""
    if kind not in _KINDS:
        raise NotFound(f"there is no such kind of entity; use {', '.join(_KINDS)}")
    delete_entity(_memory(request).shelf, kind, name)
    return json_response({"message": "Entity deleted successfully!"})


def _noticed(told: Sequence[Notice]) -> Notice:
    return sum(told, NO_NOTICE)


def _with(filters: dict[str, Any], metadata: dict[str, Any] | None) -> dict[str, Any]:
    """Return filters that ask for metadata too."""
    return {"AND": [filters, metadata]} if metadata else filters


def _cut(results: Sequence[dict[str, Any]], fields: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return results with the fields that a caller wants, and the id."""
    if not fields:
        return list(results)
    wanted = {"id", *fields}
    return [{name: value for name, value in one.items() if name in wanted} for one in results]


def _link(request: Request, page: int, page_size: int) -> str:
    return f"{request.url.path}?{urlencode({'page': page, 'page_size': page_size})}"
