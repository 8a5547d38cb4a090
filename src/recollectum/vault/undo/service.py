"""Undoes the last changes of memories in one transaction that can itself be undone."""

import builtins
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, NotFound, StepRefused
from recollectum.domain.event import Event, EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.records import dataclass
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.learning import runs
from recollectum.storage.tables.trail import quarantines, undo
from recollectum.storage.tables.trail.quarantines import Quarantine
from recollectum.storage.tables.trail.undo import Range
from recollectum.vault.consolidation.revert import revert_run
from recollectum.vault.gate import operation
from recollectum.vault.intake.draft import check_aware, check_limit
from recollectum.vault.retention.quarantine import quarantine_source
from recollectum.vault.review.writing import ChangeContext
from recollectum.vault.service import VaultService
from recollectum.vault.undo.diff import Diff, compare_memories
from recollectum.vault.undo.steps import (
    UNDOABLE,
    UndoStep,
    UndoTargetGone,
    check_event,
    find_step,
    latest_steps,
    undo_event,
)

_MOST = 1000


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step, or a part of one, that could not be undone, and why."""

    event: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The result of an undo."""

    steps: tuple[UndoStep, ...]
    refused: tuple[Refusal, ...] = ()
    #: The last event of the undo, which can be undone itself. None when nothing was written.
    event: int | None = None


class Undo(VaultService):
    """Undo in one vault."""

    @operation(Action.EVENT_READ, Scope.USER)
    def list(self, *, limit: int = 10) -> builtins.list[UndoStep]:
        """Return the last changes of memories, newest first."""
        size = check_limit(limit, _MOST)
        return self._runtime.read(lambda tx, _: list(islice(latest_steps(tx), size)))

    @operation(Action.UNDO_RUN, Scope.USER, reads=True, also=(Action.MEMORY_WRITE, Action.MEMORY_DELETE))
    def event(self, number: int) -> Undone:
        """Undo the change of an event, with everything in the same step; undo all of it or nothing."""

        def change(tx: Tx, reading: ClockReading) -> Undone:
            found = undo.event(tx, number)
            if found is None:
                raise NotFound(f"there is no event {number} in this vault; see: recollectum events")
            return self._undo(ChangeContext(tx, reading, self._runtime), [find_step(tx, found)])

        return self._runtime.write(change)

    @operation(Action.UNDO_RUN, Scope.USER, reads=True, also=(Action.MEMORY_WRITE, Action.MEMORY_DELETE))
    def last(self, count: int = 1) -> Undone:
        """Undo the last steps, newest first; an undo is a step too, so a second undo reverts the first."""
        size = check_limit(count, _MOST, "count")

        def change(tx: Tx, reading: ClockReading) -> Undone:
            found = list(islice(latest_steps(tx), size))
            if not found:
                raise NotFound("this vault has no change that can be undone")
            return self._undo(ChangeContext(tx, reading, self._runtime), found)

        return self._runtime.write(change)

    @operation(Action.UNDO_RUN, Scope.USER, reads=True, also=(Action.MEMORY_WRITE, Action.MEMORY_DELETE))
    def run(self, run_id: str) -> Undone:
        """Undo a whole consolidation run; memories that somebody changed since stay as they are."""

        def change(tx: Tx, reading: ClockReading) -> Undone:
            run = runs.find(tx, run_id)
            if run is None:
                raise NotFound(f"there is no run {run_id!r} in this vault")
            if run.reverted_at:
                raise StepRefused(f"run {run_id!r} was undone already; undo that undo to apply it again")
            step = UndoStep(event=0, at=run.at, type=EventType.CREATED, actor=run.by, subjects=(), run_ids=(run_id,))
            return self._undo(ChangeContext(tx, reading, self._runtime), [step])

        return self._runtime.write(change)

    @operation(
        Action.UNDO_RUN,
        Scope.USER,
        reads=True,
        also=(Action.QUARANTINE_WRITE, Action.MEMORY_DELETE, Action.SESSION_DELETE),
    )
    def brought(self, import_id: str) -> Quarantine:
        """Undo an import: quarantine its messages, and move its memories to the trash.

        Its sessions are no longer listed. `quarantine.release` brings all of it back.
        """
        source = f"import:{import_id}"

        def change(tx: Tx, reading: ClockReading) -> Quarantine:
            for one in quarantines.standing_ones(tx):
                if (one.source, one.went) == (source, State.SOFT_DELETED):
                    raise StepRefused(f"import {import_id!r} was undone already; release {one.id} to restore it")
            return quarantine_source(tx, reading, self._runtime, source, went=State.SOFT_DELETED)

        done = self._runtime.write(change)
        self._runtime.session_cache.clear()
        return done

    @operation(Action.EVENT_READ, Scope.USER)
    def diff(self, since: datetime) -> Diff:
        """Return what was learned, changed and forgotten since a time. Deleted memories are named, but not shown."""
        check_aware("since", since)
        return self._runtime.read(lambda tx, reading: compare_memories(tx, since, reading))

    def _undo(self, desk: ChangeContext, wanted: Sequence[UndoStep]) -> Undone:
        begun = undo.last_event(desk.tx)
        done: list[UndoStep] = []
        refused: list[Refusal] = []
        reason: Exception | None = None
        for step in wanted:
            try:
                refused += _undo_step(desk, step)
                done.append(step)
            except (Conflict, StepRefused) as error:
                reason = reason or error
                refused.append(Refusal(step.event, str(error)))
        if not done and reason:
            raise reason
        ended = undo.last_event(desk.tx)
        if ended > begun:
            undo.add_step(desk.tx, Range(begun + 1, ended, tuple(one for step in done for one in step.run_ids)))
        return Undone(steps=tuple(done), refused=tuple(refused), event=ended if ended > begun else None)


def _undo_step(desk: ChangeContext, step: UndoStep) -> list[Refusal]:
    """Undo one step as a whole; only destroyed memories are skipped, and reported."""
    run = runs.find(desk.tx, step.run_ids[0]) if step.run_ids else None
    if run and not undo.step_around(desk.tx, step.event):
        left = revert_run(desk, run)
        return [Refusal(step.event, f"{left.kept} memories were changed since and stay")] if left.kept else []
    _check_kind(step)
    planned: list[tuple[Event, Memory]] = []
    gone: list[Refusal] = []
    stands: dict[str, Memory] = {}
    for event in step.events:
        try:
            stands[event.subject_id] = check_event(desk, event, stands, step.subjects)
            planned.append((event, stands[event.subject_id]))
        except UndoTargetGone as error:
            gone.append(Refusal(event.number, str(error)))
    if not planned:
        raise StepRefused(gone[0].why)
    for event, image in planned:
        undo_event(desk, event, image)
    _toggle_runs(desk, step)
    return gone


def _toggle_runs(desk: ChangeContext, step: UndoStep) -> None:
    """Switch the state of runs: a reverted run is active again, and a restored one is reverted."""
    for run_id in step.run_ids:
        if not runs.mark_reverted(desk.tx, run_id, desk.reading.now):
            undo.let_run_hold(desk.tx, run_id)


def _check_kind(step: UndoStep) -> None:
    subject = step.subjects[0]
    if step.events[0].subject == "session":
        imported = step.type is EventType.IMPORTED
        cure = "`recollectum sessions delete` removes it" if imported else "a backup may hold it"
        raise StepRefused(f"event {step.event}, session {subject!r} {step.type}, cannot be undone; {cure}")
    if step.type is EventType.PURGED:
        raise StepRefused(f"memory {subject!r} was destroyed for good, and cannot be restored")
    if step.events[0].subject != "memory" or step.type not in UNDOABLE:
        raise StepRefused(f"event {step.event} ({step.type}) cannot be undone; only changes of memories can")
