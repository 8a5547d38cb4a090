"""Previews and takes the life-cycle steps of memories that time has made due."""

from dataclasses import replace
from datetime import datetime

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import InvalidInput
from recollectum.domain.event import EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.records import dataclass
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading, certain_reading
from recollectum.policy.lifecycle import LifecycleStep, Retention, due_at, due_step, enter
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories
from recollectum.storage.tables.trail import events
from recollectum.vault.erasure import erase_remains, mark_remains_due
from recollectum.vault.gate import operation
from recollectum.vault.memories import changes
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

#: Rows moved in one transaction: few enough that others can write in between.
_BATCH = 500
#: The most steps that one look returns.
MAX_STEPS = 1_000_000


@dataclass(frozen=True, slots=True)
class DueMove:
    """One step of one memory, and its deadline."""

    memory_id: str
    before: State
    after: State
    #: The name of the deadline that passed, and when the step is taken.
    because: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LifecycleReport:
    """The result of a sweep."""

    at: datetime
    archived: int = 0
    deleted: int = 0
    #: Moved to the last state before destruction.
    marked: int = 0
    purged: int = 0
    #: The time in use, when the clock is in doubt and nothing was moved; else None.
    held_since: datetime | None = None
    #: False while another reader keeps destroyed content in the log; a later sweep finishes it.
    erased: bool = True

    def any(self) -> bool:
        """Return whether anything moved."""
        return bool(self.archived or self.deleted or self.marked or self.purged)

    def with_more(self, other: "LifecycleReport") -> "LifecycleReport":
        """Return both reports added up."""
        return replace(
            self,
            archived=self.archived + other.archived,
            deleted=self.deleted + other.deleted,
            marked=self.marked + other.marked,
            purged=self.purged + other.purged,
        )


class Lifecycle(VaultService):
    """The life cycle (retention) of one vault's memories."""

    @operation(Action.MEMORY_READ, Scope.USER)
    def retention(self) -> Retention:
        """Return how long memories of this vault stay in each state."""
        return self._runtime.retention

    @operation(Action.MEMORY_READ, Scope.USER)
    def preview(self, at: datetime | None = None) -> list[DueMove]:
        """Return the steps that sweeps would take from now until a time, in order, with their reasons."""
        return due_moves(self._runtime, at)

    @operation(Action.LIFECYCLE_RUN, Scope.USER)
    def run(self) -> LifecycleReport:
        """Take every step that is due. A second run changes nothing; a doubtful clock moves nothing."""
        return take_due_steps(self._runtime)

    @operation(Action.LIFECYCLE_RUN, Scope.USER)
    def accept_clock(self) -> datetime:
        """Accept the clock although it jumped; return the time used until now."""

        def change(tx: Tx, reading: ClockReading) -> datetime:
            before = self._runtime.accept_clock(tx)
            events.add(tx, EventType.CLOCK_ACCEPTED, "vault", "clock", at=reading.now, actor=self._runtime.actor)
            return before

        return self._runtime.write(change)


def due_moves(runtime: VaultRuntime, at: datetime | None = None) -> list[DueMove]:
    """Return the steps that sweeps would take from now until a time, in order."""
    if at is not None and at.tzinfo is None:
        raise InvalidInput(f"at {at} has no time zone; give an aware datetime")

    def load(tx: Tx, reading: ClockReading) -> list[DueMove]:
        if at is None and reading.held:
            return []
        until = certain_reading(at) if at else reading
        due = memories.due(tx, until.now, MAX_STEPS)
        return [move for memory in due for move in _steps_of(runtime, memory, until, reading.now)]

    moves = runtime.read(load)
    return sorted(moves, key=lambda move: (move.at, move.memory_id))


def take_due_steps(runtime: VaultRuntime) -> LifecycleReport:
    """Take every step that is due, and erase the remains of the memories it destroyed."""

    def sweep(tx: Tx, reading: ClockReading) -> LifecycleReport:
        return _sweep(runtime, tx, reading)

    runtime.write_renewals()
    report = runtime.write(sweep, frees=True)
    moved = report
    while moved.any():
        moved = runtime.write(sweep, frees=True)
        report = report.with_more(moved)
    return replace(report, erased=erase_remains(runtime))


def _steps_of(runtime: VaultRuntime, memory: Memory, until: ClockReading, now: datetime) -> list[DueMove]:
    """Return the steps of one memory, each at its deadline or now, whichever is later."""
    moves: list[DueMove] = []
    while (due := due_at(memory)) is not None and due <= until.now:
        entered = max(now, due)
        # At that time, not at the end: of several deadlines the earliest comes first.
        step = due_step(memory, ClockReading(entered, min(entered, until.policy_now)))
        if step is None:
            break
        moves.append(DueMove(memory.id, memory.state, step.to, step.because, entered))
        if step.to is State.PURGED:
            break
        memory = enter(memory, step.to, entered, runtime.retention)
    return moves


def _sweep(runtime: VaultRuntime, tx: Tx, reading: ClockReading) -> LifecycleReport:
    if reading.held:
        return LifecycleReport(reading.now, held_since=reading.policy_now)
    moved = {State.ARCHIVED: 0, State.SOFT_DELETED: 0, State.HARD_DELETE_PENDING: 0, State.PURGED: 0}
    for memory in memories.due(tx, reading.now, _BATCH):
        step = due_step(memory, reading)
        if step:
            _take(runtime, tx, memory, step, reading)
            moved[step.to] += 1
    return LifecycleReport(
        reading.now,
        archived=moved[State.ARCHIVED],
        deleted=moved[State.SOFT_DELETED],
        marked=moved[State.HARD_DELETE_PENDING],
        purged=moved[State.PURGED],
    )


def _take(runtime: VaultRuntime, tx: Tx, memory: Memory, step: LifecycleStep, reading: ClockReading) -> None:
    change = changes.Change(tx, changes.LIFECYCLE, reading.now)
    if step.to is State.PURGED:
        changes.destroy(change, memory)
        mark_remains_due(tx)
    else:
        changes.move(change, memory, step.to, runtime.retention, step.because)
