"""Decides which tasks are too old or too many, and which objects nobody needs any more."""

from dataclasses import field
from datetime import datetime, timedelta

from recollectum.domain.files.task import TaskSweep
from recollectum.domain.records import dataclass
from recollectum.vault.task_store.folder import is_temporary
from recollectum.vault.task_store.objects import StoredObject
from recollectum.vault.task_store.versions import TaskFiles, TaskVersion, part_number, record_number

#: A save uses parts of an interrupted one up to this age, and ends before it has lasted so long.
REUSE_AGE = timedelta(hours=12)
#: What an interrupted save left is deleted at this age, when no save can use it any more.
LEFTOVER_AGE = 2 * REUSE_AGE


@dataclass(frozen=True, slots=True)
class Sweeper:
    """The rules of one sweep; a period or a number of 0 keeps all."""

    files: TaskFiles
    now: datetime
    keep: timedelta
    count: int


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What a sweep deletes."""

    versions: list[TaskVersion] = field(default_factory=list[TaskVersion])
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    leftovers: list[StoredObject] = field(default_factory=list[StoredObject])

    def spare(self, version: TaskVersion) -> None:
        """Take a task off the plan."""
        self.reasons.pop(version.task.id, None)

    def result(self) -> TaskSweep:
        """Return the plan in numbers."""
        gone = [one.task for one in self.versions if one.task.id in self.reasons]
        return TaskSweep(
            tasks=tuple((task.id, self.reasons[task.id]) for task in gone),
            bytes=sum(task.stored_bytes for task in gone),
            leftovers=len(self.leftovers),
            leftover_bytes=sum(one.size for one in self.leftovers),
        )


def plan_sweep(sweeper: Sweeper) -> SweepPlan:
    """Return what a sweep would delete now."""
    files, plan = sweeper.files, SweepPlan()
    everything = files.everything()
    latest = _latest(everything)
    versions = {name: found for name, number in latest.items() if (found := files.read(name, number)) is not None}
    living = sorted((one for one in versions.values() if not one.deleted), key=lambda one: one.task.saved_at)
    excess = max(0, len(living) - sweeper.count) if sweeper.count else 0
    for place, one in enumerate(living):
        if sweeper.keep and one.task.saved_at < sweeper.now - sweeper.keep:
            plan.reasons[one.task.id] = f"last saved {one.task.saved_at:%Y-%m-%d}, over {sweeper.keep.days} days ago"
        elif place < excess:
            plan.reasons[one.task.id] = f"more than {sweeper.count} tasks, and older than the others"
        else:
            continue
        plan.versions.append(one)
    plan.leftovers.extend(one for one in everything if _is_leftover(one, latest, versions, sweeper.now))
    return plan


def _latest(everything: list[StoredObject]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in everything:
        number = record_number(one.name)
        if number is not None:
            name = _task_of(one)
            found[name] = max(number, found.get(name, 0))
    return found


def _is_leftover(one: StoredObject, latest: dict[str, int], versions: dict[str, TaskVersion], now: datetime) -> bool:
    """Return whether nobody needs an object; in doubt it stays."""
    name = _task_of(one)
    is_old = one.modified_at < now - LEFTOVER_AGE
    if name in latest and name not in versions:
        # Saved or deleted since the listing.
        return False
    number = record_number(one.name)
    if number is not None:
        # What says that a task is deleted stays until nobody can save an older version any more.
        return number < latest[name] or (versions[name].deleted and is_old)
    number = part_number(one.name)
    if number is None:
        return is_temporary(one.name) and is_old
    if name in versions and one.name.rpartition("/")[2] in versions[name].parts:
        return False
    return number <= latest.get(name, 0) or is_old


def _task_of(one: StoredObject) -> str:
    return one.name.rsplit("/", 2)[-2]
