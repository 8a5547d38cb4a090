"""Keeps the tasks of an agent server: data and an archive of the workspace for each, in a folder or a bucket."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.files.task import Task, TaskSweep, TaskWorkspace, check_task_id
from recollectum.domain.message import Json
from recollectum.domain.page import Cursor, Page, cut_page
from recollectum.policy.actions import Action
from recollectum.vault.gate import operation
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService
from recollectum.vault.task_store.objects import StoredObject
from recollectum.vault.task_store.places import TaskPlaces
from recollectum.vault.task_store.transfer import PartMissing, load_parts, store_parts
from recollectum.vault.task_store.versions import (
    TaskFiles,
    TaskVersion,
    deleted_version,
    is_task_name,
    next_version,
    part_digest,
    part_number,
)
from recollectum.vault.tasks.extraction import check_target, extract
from recollectum.vault.tasks.retention import REUSE_AGE, Sweeper, plan_sweep
from recollectum.vault.tasks.snapshot import WorkspaceReader

_ATTEMPTS = 5
_MOST_AT_ONCE = 1000
_MOST_DAYS, _MOST_TASKS = 36_500, 1_000_000


class Tasks(VaultService):
    """The tasks of one vault's owner."""

    def __init__(self, runtime: VaultRuntime, places: TaskPlaces) -> None:
        super().__init__(runtime)
        self._places = places

    @operation(Action.TASK_WRITE, Scope.USER)
    def save(self, task_id: str, data: Mapping[str, Json] | None = None, *, version: int | None = None) -> Task:
        """Save a task; its workspace stays, and without data those that it has stay too.

        With `version` it is saved only if that is its version now; 0 is that of a task that does not exist. Of two
        programs that save a task at the same time, one succeeds and the other gets Conflict.
        """
        files = self._files(writing=True)
        given = None if data is None else checked_data(data)
        known = self._known(files, check_task_id(task_id), version)
        before = None if known is None or known.deleted else known
        parts, archive = (before.parts, before.task.workspace) if before else ((), None)
        return self._commit(files, next_version(known, self._made(task_id, known, given, archive), parts))

    @operation(Action.FILE_FOLLOW, Scope.USER, also=(Action.TASK_WRITE,))
    def save_workspace(
        self,
        task_id: str,
        folder: str | Path,
        data: Mapping[str, Json] | None = None,
        *,
        version: int | None = None,
        fresh: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Task:
        """Save a task with an archive of its workspace, a folder of this machine; without data those it has stay.

        `version` is that of `save`. Parts of the workspace that are stored already are not stored again, unless
        `fresh`. `progress` gets the bytes that were read so far.
        """
        files = self._files(writing=True)
        given = None if data is None else checked_data(data)
        began = self._places.clock()
        known = self._known(files, check_task_id(task_id), version)
        reader = WorkspaceReader(Path(folder), self._runtime.settings.tasks.max_mib * 2**20)
        name, number = files.name_of(task_id), known.task.version + 1 if known else 1
        reusable = {} if fresh else _reusable(files.parts(name), known, number, began - REUSE_AGE)
        parts, stored = store_parts(files, name, number, reader.pieces(), reusable, progress)
        task = self._made(task_id, known, given, reader.result(stored))
        if task.saved_at - began > REUSE_AGE:
            raise Conflict(f"saving the task {task_id!r} took longer than {REUSE_AGE}; save a smaller workspace")
        return self._commit(files, next_version(known, task, parts))

    @operation(Action.TASK_READ, Scope.USER)
    def get(self, task_id: str) -> Task:
        """Return a task; raise NotFound when there is none."""
        return self._get(self._files(), task_id).task

    @operation(Action.TASK_READ, Scope.USER)
    def find(self, task_id: str) -> Task | None:
        """Return a task, or None when there is none."""
        files = self._files()
        found = files.find(files.name_of(check_task_id(task_id)))
        return None if found is None or found.deleted else found.task

    @operation(Action.FILE_FOLLOW, Scope.USER, reads=True, also=(Action.TASK_READ,))
    def extract(self, task_id: str, folder: str | Path, *, progress: Callable[[int], None] | None = None) -> Task:
        """Write the workspace of a task into a folder that is empty or does not exist; it appears when it is whole."""
        files = self._files()
        target = check_target(Path(folder))
        for attempt in range(_ATTEMPTS):
            found = self._get(files, task_id)
            archive = found.task.workspace
            if archive is None:
                raise NotFound(f"the task {task_id!r} has no workspace; save it with one first")
            name = files.name_of(task_id)
            try:
                extract(load_parts(files, name, found.parts, archive.bytes, progress), target)
            except PartMissing:
                # A later version may have replaced it while it was read.
                if attempt == _ATTEMPTS - 1 or self._get(files, task_id).task.version == found.task.version:
                    raise
                continue
            return found.task
        raise Conflict(f"the task {task_id!r} is saved again and again while it is read; try again later")

    @operation(Action.TASK_READ, Scope.USER)
    def list(self, *, limit: int = 50, cursor: Cursor | None = None) -> Page[Task]:
        """Return the tasks in the order of their names in the store, with their sizes and times."""
        if not 1 <= limit <= _MOST_AT_ONCE:
            raise InvalidInput(f"a page cannot have {limit} tasks; ask for 1 to {_MOST_AT_ONCE}")
        if cursor is not None and not is_task_name(cursor):
            raise InvalidInput(f"cursor {cursor!r} was not returned by a page; use the `next` of a page")
        files = self._files()
        latest = files.latest()
        found: list[tuple[str, Task]] = []
        for name in sorted(one for one in latest if cursor is None or one > cursor):
            version = files.read(name, latest[name]) or files.find(name)
            if version is not None and not version.deleted:
                found.append((name, version.task))
            if len(found) > limit:
                break
        page = cut_page(found, limit, lambda one: one[0])
        return Page([task for _, task in page], page.next)

    @operation(Action.TASK_DELETE, Scope.USER)
    def delete(self, task_id: str, *, version: int | None = None) -> Task:
        """Delete a task with its workspace at once, if its version is the given one; return what it was, in numbers."""
        files = self._files()
        found = self._get(files, task_id)
        _check_version(task_id, found.task.version, version)
        self._delete(files, found)
        return found.task

    @operation(Action.TASK_READ, Scope.USER)
    def preview_retention(self, *, days: int | None = None, count: int | None = None) -> TaskSweep:
        """Return what retention would delete now; change nothing."""
        return plan_sweep(self._sweeper(self._files(), days, count)).result()

    @operation(Action.TASK_DELETE, Scope.USER)
    def run_retention(self, *, days: int | None = None, count: int | None = None) -> TaskSweep:
        """Delete tasks by age and number, and what interrupted saves have left; return what was deleted.

        Without arguments the settings decide: `tasks.keep_days` and `tasks.keep_count`, where 0 keeps all.
        """
        if days is None and count is None and not self._places.may_be_used():
            # The daemon asks in every home, also where the package for the compression is not installed.
            return TaskSweep(tasks=(), bytes=0, leftovers=0, leftover_bytes=0)
        files = self._files()
        plan = plan_sweep(self._sweeper(files, days, count))
        for one in plan.versions:
            try:
                self._delete(files, one)
            except Conflict:
                # Saved again meanwhile, so it is not old any more.
                plan.spare(one)
        files.objects.delete(one.name for one in plan.leftovers)
        return plan.result()

    def _made(
        self,
        task_id: str,
        known: TaskVersion | None,
        data: Mapping[str, Json] | None,
        workspace: TaskWorkspace | None,
    ) -> Task:
        """Return the next version of a task; without data, with those that it has."""
        before = known.task if known and not known.deleted else None
        now = self._places.clock()
        return Task(
            id=task_id,
            version=known.task.version + 1 if known else 1,
            created_at=before.created_at if before else now,
            saved_at=now,
            saved_by=self._runtime.actor,
            data=data if data is not None else before.data if before else {},
            workspace=workspace,
        )

    def _commit(self, files: TaskFiles, made: TaskVersion) -> Task:
        files.commit(made)
        files.drop_replaced(made)
        self._tell("task.saved", made.task.workspace)
        return made.task

    def _sweeper(self, files: TaskFiles, days: int | None, count: int | None) -> Sweeper:
        settings = self._runtime.settings.tasks
        keep_days = settings.keep_days if days is None else days
        keep_count = settings.keep_count if count is None else count
        if not 0 <= keep_days <= _MOST_DAYS:
            raise InvalidInput(f"days cannot be {keep_days}; use 1 to {_MOST_DAYS}, or 0 to keep all")
        if not 0 <= keep_count <= _MOST_TASKS:
            raise InvalidInput(f"count cannot be {keep_count}; use 1 to {_MOST_TASKS}, or 0 to keep all")
        return Sweeper(files, self._places.clock(), timedelta(days=keep_days), keep_count)

    def _delete(self, files: TaskFiles, version: TaskVersion) -> None:
        gone = deleted_version(version, self._places.clock(), self._runtime.actor)
        files.commit(gone)
        files.drop_replaced(gone)
        self._tell("task.deleted", version.task.workspace)

    def _files(self, *, writing: bool = False) -> TaskFiles:
        return self._places.files(self._runtime.vault.id, writing=writing)

    def _get(self, files: TaskFiles, task_id: str) -> TaskVersion:
        found = files.find(files.name_of(check_task_id(task_id)))
        if found is None or found.deleted:
            raise NotFound(f"there is no task {task_id!r}; see: recollectum tasks list")
        return found

    def _known(self, files: TaskFiles, task_id: str, wanted: int | None) -> TaskVersion | None:
        """Return the latest version, if it is the wanted one."""
        known = files.find(files.name_of(task_id))
        _check_version(task_id, 0 if known is None or known.deleted else known.task.version, wanted)
        return known

    def _tell(self, event: str, archive: TaskWorkspace | None) -> None:
        counts = {"files": archive.files, "bytes": archive.stored_bytes} if archive else {"files": 0, "bytes": 0}
        self._runtime.log.info(event, counts)


def checked_data(data: Mapping[str, Json]) -> dict[str, Json]:
    """Return the data of a task; raise unless it is a JSON object."""
    try:
        return dict(json.loads(json.dumps(dict(data), allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("the data of a task must be a JSON object; use texts, numbers, lists and objects") from None


def _check_version(task_id: str, found: int, wanted: int | None) -> None:
    if wanted is None or wanted == found:
        return
    if wanted < 0:
        raise InvalidInput(f"{wanted} is not the version of a task; use 0 for a new one, or the version that it has")
    state = f"has the version {found}" if found else "does not exist"
    raise Conflict(f"the task {task_id!r} {state}, not the version {wanted}; load it again, then save")


def _reusable(
    parts: Iterable[StoredObject], before: TaskVersion | None, number: int, oldest: datetime
) -> dict[str, tuple[str, int]]:
    """Return the stored parts that a new version may list: those of the last one, and of an interrupted save.

    Retention deletes parts of interrupted saves only when they are far older.
    """
    listed: set[str] = {*before.parts} if before else set()
    found: dict[str, tuple[str, int]] = {}
    for one in parts:
        part = one.name.rpartition("/")[2]
        if part in listed or (part_number(part) == number and one.modified_at > oldest):
            found[part_digest(part)] = (part, one.size)
    return found
