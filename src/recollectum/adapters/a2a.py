"""Keeps the tasks of an A2A server in vaults, by the interface `TaskStore` of its SDK."""

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from a2a.server.context import ServerCallContext
from a2a.server.owner_resolver import resolve_user_scope
from a2a.server.tasks.task_store import TaskStore
from a2a.types.a2a_pb2 import ListTasksRequest, ListTasksResponse
from a2a.types.a2a_pb2 import Task as A2ATask
from a2a.utils.constants import DEFAULT_LIST_TASKS_PAGE_SIZE
from a2a.utils.errors import InvalidParamsError
from a2a.utils.task import ListTasksCursor, decode_list_tasks_cursor, encode_list_tasks_cursor
from google.protobuf.json_format import MessageToDict, ParseDict

from recollectum.domain.errors import Conflict
from recollectum.domain.page import every

if TYPE_CHECKING:
    from recollectum.domain.files.task import Task
    from recollectum.domain.message import Json
    from recollectum.vault.tasks.service import Tasks
    from recollectum.vault.vault import Vault

_TASK, _A2A_OWNER = "a2a_task", "a2a_owner"
_ATTEMPTS = 20
_SAFE = "@:+ "


class RecollectumTaskStore(TaskStore):
    """The tasks of an A2A server in vaults. Which vault is a function of the request; one vault may serve them all.

    Users of one vault are kept apart by the SDK's own rule, as its other stores do. A task that also has a workspace
    keeps it: `vault.tasks.save_workspace` with the same id archives one.
    """

    def __init__(
        self,
        vault: "Vault | Callable[[ServerCallContext], Vault]",
        *,
        owner_resolver: Callable[[ServerCallContext], str] = resolve_user_scope,
    ) -> None:
        self._vault = vault
        self._owner = owner_resolver

    async def save(self, task: A2ATask, context: ServerCallContext) -> None:
        """Save a task in place of the last one of its id."""
        data: dict[str, Json] = {_TASK: MessageToDict(task), _A2A_OWNER: self._owner(context)}
        tasks, name = self._tasks(context), self._name(task.id, context)
        await asyncio.to_thread(lambda: _save(tasks, name, data))

    async def get(self, task_id: str, context: ServerCallContext) -> A2ATask | None:
        """Return a task; None when there is none."""
        tasks, name = self._tasks(context), self._name(task_id, context)
        found = await asyncio.to_thread(lambda: tasks.find(name))
        return None if found is None else _parsed(found)

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """Return the tasks that fit, the latest change first, in pages."""
        found = await asyncio.to_thread(lambda: [*self._of_owner(context)])
        fitting = sorted((one for one in found if _fits(one, params)), key=_place, reverse=True)
        start = 0
        if params.page_token:
            cursor = decode_list_tasks_cursor(params.page_token)
            if cursor is None:
                raise InvalidParamsError(f"Invalid page token: {params.page_token}")
            after = cursor.sort_key()
            start = next((place for place, one in enumerate(fitting) if _place(one) < after), len(fitting))
        size = params.page_size or DEFAULT_LIST_TASKS_PAGE_SIZE
        shown = fitting[start : start + size]
        more = start + size < len(fitting)
        return ListTasksResponse(
            tasks=shown,
            next_page_token=encode_list_tasks_cursor(_cursor(shown[-1])) if more else None,
            total_size=len(fitting),
            page_size=size,
        )

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        """Delete a task with its workspace; one that does not exist is passed over."""
        tasks, name = self._tasks(context), self._name(task_id, context)

        def delete() -> None:
            if tasks.find(name) is not None:
                tasks.delete(name)

        await asyncio.to_thread(delete)

    def task_id(self, task_id: str, context: ServerCallContext) -> str:
        """Return the id under which a task of the request's user is in the vault, to save its workspace."""
        return self._name(task_id, context)

    def _tasks(self, context: ServerCallContext) -> "Tasks":
        return (self._vault(context) if callable(self._vault) else self._vault).tasks

    def _name(self, task_id: str, context: ServerCallContext) -> str:
        # Two users of one vault may choose the same id; a slash in a name or an id is escaped.
        owner, name = quote(self._owner(context), safe=_SAFE), quote(task_id, safe=_SAFE)
        return f"{owner}/{name}" if owner else name

    def _of_owner(self, context: ServerCallContext) -> Iterator[A2ATask]:
        tasks, owner = self._tasks(context), self._owner(context)
        for one in every(lambda cursor: tasks.list(limit=1000, cursor=cursor)):
            if _TASK in one.data and one.data.get(_A2A_OWNER) == owner:
                yield _parsed(one)


def _save(tasks: "Tasks", name: str, data: "dict[str, Json]") -> None:
    """Save over what other processes save: the interface has no versions, and the last one counts."""
    for attempt in range(_ATTEMPTS):
        try:
            tasks.save(name, data)
        except Conflict:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def _parsed(task: "Task") -> A2ATask:
    return ParseDict(cast("dict[str, object]", task.data.get(_TASK, {})), A2ATask(), ignore_unknown_fields=True)


def _fits(task: A2ATask, params: ListTasksRequest) -> bool:
    if params.context_id and task.context_id != params.context_id:
        return False
    if params.status and task.status.state != params.status:
        return False
    if not params.HasField("status_timestamp_after"):
        return True
    return _has_time(task) and (task.status.timestamp.ToNanoseconds() >= params.status_timestamp_after.ToNanoseconds())


def _has_time(task: A2ATask) -> bool:
    return task.HasField("status") and task.status.HasField("timestamp")


def _place(task: A2ATask) -> tuple[bool, int, str]:
    return _has_time(task), task.status.timestamp.ToNanoseconds() if _has_time(task) else 0, task.id


def _cursor(task: A2ATask) -> ListTasksCursor:
    has_time, nanoseconds, task_id = _place(task)
    return ListTasksCursor(timestamp_ns=nanoseconds if has_time else None, task_id=task_id)
