"""Stores each save of a task as a numbered version: of two processes that make the same number, one does.

The objects of one vault are `VAULT/tasks/TASK/NUMBER.task`, one for each version, and
`VAULT/parts/TASK/NUMBER-DIGEST-SAVE.part`, the parts that a save stored for that version. The version with the highest
number counts. A later version may list parts of an earlier one. Earlier versions and the parts that nobody lists are
deleted after a save, and else by retention.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, cast

from recollectum.domain.errors import Conflict, Damaged, Undecided, Unreachable
from recollectum.domain.files.task import Task, TaskWorkspace
from recollectum.domain.records import dataclass
from recollectum.vault.task_store.objects import ObjectStore, StoredObject
from recollectum.vault.task_store.sealing import TaskSeal

_RECORD = re.compile(r"(?P<number>[0-9]{12})\.task")
_PART = re.compile(r"(?P<number>[0-9]{12})-(?P<digest>[0-9a-f]{40})-[0-9a-f]{8}\.part")
_NAME = re.compile(r"[0-9a-f]{40}")
_MOST = 10**12 - 1
_ANCESTORS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVersion:
    """One version of a task; a deleted one has neither data nor parts."""

    task: Task
    deleted: bool = False
    #: The file names of the workspace's parts, in order.
    parts: tuple[str, ...] = ()
    #: The random name of the save that made it, and those of the versions before it, the last ones only.
    save: str = ""
    ancestors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """The versions and parts of one vault's tasks in an object store."""

    objects: ObjectStore
    seal: TaskSeal
    vault_id: str

    def name_of(self, task_id: str) -> str:
        """Return the name of a task in the store."""
        return self.seal.task_name(task_id)

    def find(self, name: str) -> TaskVersion | None:
        """Return the latest version of a task, also a deleted one; None when there is none."""
        while numbers := self.numbers(name):
            found = self.read(name, numbers[-1])
            if found is not None:
                return found
            # A later one replaced it after the listing.
        return None

    def read(self, name: str, number: int) -> TaskVersion | None:
        """Return one version of a task; None when it is not there any more."""
        data = self.objects.read(self._record(name, number))
        if data is None:
            return None
        found = _decoded(self.seal.open_record(name, number, data))
        if found.task.version != number or self.name_of(found.task.id) != name:
            raise _garbled()
        return found

    def numbers(self, name: str) -> list[int]:
        """Return the numbers of the versions of a task, the latest last."""
        return sorted(number for _, number in self._records(f"{self.vault_id}/tasks/{name}/"))

    def latest(self) -> dict[str, int]:
        """Return the names of all tasks, each with its latest number, deleted ones included."""
        found: dict[str, int] = {}
        for name, number in self._records(f"{self.vault_id}/tasks/"):
            found[name] = max(number, found.get(name, 0))
        return found

    def _records(self, prefix: str) -> Iterator[tuple[str, int]]:
        for one in self.objects.list(prefix):
            _, name, last = one.name.rsplit("/", 2)
            if match := _RECORD.fullmatch(last):
                yield name, int(match["number"])

    def commit(self, version: TaskVersion) -> None:
        """Store a version as the latest one; raise Conflict when another process has stored it, or a later one."""
        name, number = self.name_of(version.task.id), version.task.version
        data = self.seal.seal_record(name, number, _encoded(version))
        path = self._record(name, number)
        try:
            mine = self.objects.create(path, data)
        except Unreachable as error:
            if self._is_stored(path, data) is None:
                raise Undecided(f"whether the task was saved is not known: {error}") from error
            mine = False
        # A request that was repeated by a library finds what its first attempt has stored.
        if not mine and not self._is_stored(path, data):
            raise _lost(version.task.id)
        if self.numbers(name)[-1:] != [number]:
            self._check_followed(name, version)

    def _check_followed(self, name: str, version: TaskVersion) -> None:
        """Raise unless a later version follows this one: its number may have been free again, long after its turn."""
        latest = self.find(name)
        if latest is None or latest.task.version == version.task.version or version.save in latest.ancestors:
            return
        if latest.task.version - version.task.version > _ANCESTORS:
            raise Undecided(f"whether the task {version.task.id!r} was saved is not known: many others saved it since")
        self.objects.delete([self._record(name, version.task.version)])
        raise _lost(version.task.id)

    def _is_stored(self, path: str, data: bytes) -> bool | None:
        """Return whether an object is exactly this; None when the store does not answer."""
        try:
            return self.objects.read(path) == data
        except Unreachable:
            return None

    def parts(self, name: str) -> list[StoredObject]:
        """Return the stored parts of one task."""
        return list(self.objects.list(f"{self.vault_id}/parts/{name}/"))

    def part_path(self, name: str, part: str) -> str:
        """Return the object of a part."""
        return f"{self.vault_id}/parts/{name}/{part}"

    def drop_replaced(self, version: TaskVersion) -> None:
        """Delete what a version that is stored has replaced: earlier versions, and parts that it does not list."""
        name, number = self.name_of(version.task.id), version.task.version
        earlier = [self._record(name, one) for one in self.numbers(name) if one < number]
        kept = set(version.parts)
        # Nobody can store a version up to this number any more, so nobody needs a part that was stored for one.
        unused = [one.name for one in self.parts(name) if (part_number(one.name) or _MOST) <= number]
        self.objects.delete([*earlier, *(one for one in unused if one.rpartition("/")[2] not in kept)])

    def everything(self) -> list[StoredObject]:
        """Return every object of the vault."""
        return list(self.objects.list(f"{self.vault_id}/"))

    def _record(self, name: str, number: int) -> str:
        return f"{self.vault_id}/tasks/{name}/{number:012}.task"


def is_task_name(text: str) -> bool:
    """Return whether a text has the form of a task's name in the store."""
    return _NAME.fullmatch(text) is not None


def part_number(path: str) -> int | None:
    """Return the number of the version for which a part was stored; None when it is no part."""
    match = _PART.fullmatch(path.rpartition("/")[2])
    return int(match["number"]) if match else None


def record_number(path: str) -> int | None:
    """Return the number of a version by its object; None when it is none."""
    match = _RECORD.fullmatch(path.rpartition("/")[2])
    return int(match["number"]) if match else None


def part_file(number: int, digest: str, save: str) -> str:
    """Return the file name of a part that a save stores for a version."""
    return f"{number:012}-{digest}-{save}.part"


def part_digest(path: str) -> str:
    """Return the digest in the name of a part; empty when it is no part."""
    match = _PART.fullmatch(path.rpartition("/")[2])
    return match["digest"] if match else ""


def next_version(
    known: TaskVersion | None, task: Task, parts: tuple[str, ...], *, deleted: bool = False
) -> TaskVersion:
    """Return the version that follows a known one."""
    ancestors = (*known.ancestors, known.save)[-_ANCESTORS:] if known else ()
    return TaskVersion(task=task, deleted=deleted, parts=parts, save=os.urandom(8).hex(), ancestors=ancestors)


def deleted_version(version: TaskVersion, at: datetime, by: str) -> TaskVersion:
    """Return the version that says that a task is deleted, so that nobody who saves an older one brings it back."""
    task = replace(version.task, version=version.task.version + 1, saved_at=at, saved_by=by, data={}, workspace=None)
    return next_version(version, task, (), deleted=True)


def _encoded(version: TaskVersion) -> bytes:
    task = version.task
    fields = {
        "id": task.id,
        "version": task.version,
        "created_at": task.created_at.isoformat(),
        "saved_at": task.saved_at.isoformat(),
        "saved_by": task.saved_by,
        "data": task.data,
        "workspace": asdict(task.workspace) if task.workspace else None,
        "deleted": version.deleted,
        "parts": version.parts,
        "save": version.save,
        "ancestors": version.ancestors,
    }
    return json.dumps(fields, separators=(",", ":")).encode()


def _decoded(content: bytes) -> TaskVersion:
    try:
        fields = cast("dict[str, Any]", json.loads(content))
        task = Task(
            id=str(fields["id"]),
            version=int(fields["version"]),
            created_at=datetime.fromisoformat(fields["created_at"]),
            saved_at=datetime.fromisoformat(fields["saved_at"]),
            saved_by=str(fields["saved_by"]),
            data=dict(fields["data"]),
            workspace=_workspace(fields["workspace"]),
        )
        return TaskVersion(
            task=task,
            deleted=bool(fields["deleted"]),
            parts=_parts(fields["parts"]),
            save=str(fields["save"]),
            ancestors=tuple(str(one) for one in fields["ancestors"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        raise _garbled() from None


def _parts(names: Iterable[object]) -> tuple[str, ...]:
    found = tuple(str(one) for one in names)
    if not all(_PART.fullmatch(one) for one in found):
        raise ValueError("a part has another name")
    return found


def _workspace(fields: Any) -> TaskWorkspace | None:  # noqa: ANN401 - parsed JSON
    if fields is None:
        return None
    left_out: Sequence[Sequence[str]] = fields["left_out"]
    numbers = {name: int(fields[name]) for name in ("files", "folders", "links", "bytes", "stored_bytes")}
    if min(numbers.values()) < 0:
        raise ValueError("a size is below zero")
    return TaskWorkspace(**numbers, left_out=tuple((str(path), str(why)) for path, why in left_out))


def _garbled() -> Damaged:
    return Damaged("the record of the task is damaged; save the task again")


def _lost(task_id: str) -> Conflict:
    return Conflict(
        f"another process has saved or deleted the task {task_id!r} since it was read; load it again, then save"
    )
