"""`/v1/history`: the commands of shells, by project."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.agent_state.shell_command import ShellCommand
from recollectum.domain.errors import NotFound
from recollectum.domain.notice import Notice
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.json_values import to_json
from recollectum.doors.rest.preconditions import StoredResult, noted, request_fingerprint, run_once
from recollectum.doors.rest.requests import AddCommand, IdempotencyKey, IdPath, OwnerQuery
from recollectum.doors.rest.responses import (
    CursorQuery,
    Limit,
    decode_cursor,
    describe_responses,
    encode_cursor,
    json_response,
)

router = APIRouter(route_class=KeyedRoute, tags=["state"])
_LIST = "history"
ProjectQuery = Annotated[
    str | None,
    Query(
        max_length=64,
        pattern="^([0-9a-f]{64})?$",
        description="Only of the project with this key; empty: of none; left out: of all.",
    ),
]


@router.get("/v1/history", responses=describe_responses({"commands": list[ShellCommand], "next": str | None}))
def list_commands(
    request: Request,
    project: ProjectQuery = None,
    text: Annotated[str | None, Query(max_length=1000, description="Only those that contain it, in any case.")] = None,
    limit: Limit = 50,
    cursor: CursorQuery = None,
    owner: OwnerQuery = None,
) -> Response:
    """List the newest commands."""
    history = visitor_of(request).vault(owner).state.history
    found = history.list(project=project, text=text, cursor=decode_cursor(_LIST, cursor), limit=limit)
    return json_response({"commands": found, "next": encode_cursor(_LIST, found.next)})


@router.post("/v1/history", responses=describe_responses({"command": ShellCommand, "notice": Notice}))
def add_command(
    request: Request, body: AddCommand, owner: OwnerQuery = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Add a command that was run; its secrets are replaced before it is stored."""
    visitor = visitor_of(request)
    history = visitor.vault(owner).state.history

    def work() -> tuple[StoredResult, ShellCommand]:
        added = history.add(body.command, project=body.project)
        return {"id": added.id, "notice": to_json(added.notice)}, added

    def again(done: StoredResult) -> ShellCommand:
        found = history.list(cursor=f"{done['id']}~", limit=1)
        if not found or found[0].id != done["id"]:
            raise NotFound("that command no longer exists")
        return found[0]

    def show(done: StoredResult, added: ShellCommand) -> Response:
        return json_response({"command": added, "notice": noted(done)})

    fingerprint = request_fingerprint("history", body.model_dump_json(), owner)
    return run_once(visitor, idempotency_key, fingerprint, work, again, show)


@router.delete("/v1/history", responses=describe_responses({"deleted": int}))
def delete_commands(request: Request, project: ProjectQuery = None, owner: OwnerQuery = None) -> Response:
    """Delete the commands of a project, or of all."""
    return json_response({"deleted": visitor_of(request).vault(owner).state.history.delete_all(project=project)})


@router.delete("/v1/history/{command_id}", responses=describe_responses({"deleted": int}))
def delete_command(request: Request, command_id: IdPath, owner: OwnerQuery = None) -> Response:
    """Delete one command."""
    visitor_of(request).vault(owner).state.history.delete(command_id)
    return json_response({"deleted": 1})
