"""Task: what an agent server keeps of one task, and the archive of its workspace."""

from collections.abc import Mapping
from datetime import datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass

MAX_TASK_ID = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWorkspace:
    """The archive of a workspace, in numbers."""

    files: int
    folders: int
    links: int
    #: The size of the files with their headers, before compression.
    bytes: int
    #: The size of what is stored: compressed, and encrypted where the home is.
    stored_bytes: int
    #: Paths that are not in the archive, each with the reason.
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task, as it was last saved."""

    id: str
    #: Counts up with each save; a save may name the version that it replaces.
    version: int
    created_at: datetime
    saved_at: datetime
    saved_by: str
    #: What the agent server keeps of the task.
    data: Mapping[str, Json]
    workspace: TaskWorkspace | None

    @property
    def stored_bytes(self) -> int:
        """The size of the stored workspace; 0 without one."""
        return self.workspace.stored_bytes if self.workspace else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSweep:
    """What retention deletes, or would delete."""

    #: The ids of the tasks, each with the reason.
    tasks: tuple[tuple[str, str], ...]
    #: The size of their workspaces.
    bytes: int
    #: Objects of interrupted saves and of earlier versions, and their size.
    leftovers: int
    leftover_bytes: int


def check_task_id(task_id: str) -> str:
    """Return the id of a task; raise with the reason when it is invalid."""
    if not task_id.strip():
        raise InvalidInput("the id of the task is empty; give it at least one letter or digit")
    if len(task_id) > MAX_TASK_ID:
        raise InvalidInput(f"a task id of {len(task_id)} characters is too long; use at most {MAX_TASK_ID}")
    if not task_id.isprintable():
        raise InvalidInput(f"the task id {task_id!r} holds a control character or an invisible one; leave it out")
    return task_id
