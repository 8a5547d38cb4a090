"""`/v1/tasks`: the data of agent servers' tasks; workspaces are archived and loaded on the machine that has them."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.files.task import MAX_TASK_ID, Task, TaskWorkspace
from recollectum.domain.page import Cursor
from recollectum.domain.records import dataclass
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.requests import OwnerQuery, SaveTask
from recollectum.doors.rest.responses import (
    CursorQuery,
    Limit,
    decode_cursor,
    describe_responses,
    encode_cursor,
    json_response,
)

router = APIRouter(route_class=KeyedRoute, tags=["state"])
_LIST = "tasks"
TaskId = Annotated[str, Query(alias="id", min_length=1, max_length=MAX_TASK_ID, description="The id of the task.")]
Version = Annotated[int | None, Query(ge=1, description="Refuse when the task has another version.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEntry:
    """A task as a list shows it: without its data, which may be large."""

    id: str
    version: int
    created_at: datetime
    saved_at: datetime
    saved_by: str
    workspace: TaskWorkspace | None


@router.get("/v1/tasks", responses=describe_responses({"tasks": list[TaskEntry], "next": str | None}))
def list_tasks(request: Request, limit: Limit = 50, cursor: CursorQuery = None, owner: OwnerQuery = None) -> Response:
    """List the tasks with their sizes and times, without their data."""
    begin = decode_cursor(_LIST, cursor)
    found = visitor_of(request).vault(owner).tasks.list(limit=limit, cursor=Cursor(begin) if begin else None)
    return json_response({"tasks": [_entry(one) for one in found], "next": encode_cursor(_LIST, found.next)})


@router.get("/v1/tasks/one", responses=describe_responses({"task": Task}))
def show_task(request: Request, task_id: TaskId, owner: OwnerQuery = None) -> Response:
    """Show one task with its data, and what its workspace holds."""
    return json_response({"task": visitor_of(request).vault(owner).tasks.get(task_id)})


@router.put("/v1/tasks/one", responses=describe_responses({"task": Task}))
def save_task(request: Request, body: SaveTask, owner: OwnerQuery = None) -> Response:
    """Save a task; its workspace stays, and without data those that it has stay too."""
    saved = visitor_of(request).vault(owner).tasks.save(body.id, body.data, version=body.version)
    return json_response({"task": saved})


@router.delete("/v1/tasks/one", responses=describe_responses({"deleted": str}))
def delete_task(request: Request, task_id: TaskId, version: Version = None, owner: OwnerQuery = None) -> Response:
    """Delete a task with its workspace at once."""
    return json_response({"deleted": visitor_of(request).vault(owner).tasks.delete(task_id, version=version).id})


def _entry(task: Task) -> TaskEntry:
    return TaskEntry(
        id=task.id,
        version=task.version,
        created_at=task.created_at,
        saved_at=task.saved_at,
        saved_by=task.saved_by,
        workspace=task.workspace,
    )
