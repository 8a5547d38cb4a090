"""Decides when a memory changes state: one pure function decides, one table allows.

A person's own deadline (`expires_at`) follows the wall clock. The policy's deadlines follow `ClockReading.policy_now`,
which stops while the clock is in doubt, so that a wrong clock ages nothing.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recollectum.domain.errors import StepRefused
from recollectum.domain.memory import STEPS, Memory, State
from recollectum.domain.records import dataclass
from recollectum.policy.clock import ClockReading

_END_OF_TIME = datetime.max.replace(tzinfo=UTC)

#: States in which a person may still see the content.
LIVE = frozenset({State.ACTIVE, State.ARCHIVED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long a memory stays in each state; None is for ever."""

    active: timedelta | None = timedelta(days=90)
    #: None skips the archive: a memory that is no longer active is deleted.
    archived: timedelta | None = timedelta(days=60)
    grace: timedelta = timedelta(days=7)
    #: The periods of memories that were learned through certain agents, by the agent's name.
    agents: tuple[tuple[str, "Retention"], ...] = ()

    def of(self, agent: str | None) -> "Retention":
        """Return the periods of a memory that was learned through an agent, or through none."""
        return next((rules for name, rules in self.agents if name == agent), self)


@dataclass(frozen=True, slots=True)
class LifecycleStep:
    """A due step, and its deadline."""

    to: State
    because: str
    at: datetime | None


def due_step(memory: Memory, reading: ClockReading) -> LifecycleStep | None:
    """Return the next step that is due for this memory, or None."""
    match memory.state:
        case State.ACTIVE | State.ARCHIVED if _past(memory.expires_at, reading.now):
            # A TTL is a promise to the person: it skips the archive.
            return LifecycleStep(State.SOFT_DELETED, "expires_at", memory.expires_at)
        case State.ACTIVE if _past(memory.archive_at, reading.policy_now):
            return LifecycleStep(State.ARCHIVED, "archive_at", memory.archive_at)
        case State.ACTIVE | State.ARCHIVED if _past(memory.retention_expires_at, reading.policy_now):
            return LifecycleStep(State.SOFT_DELETED, "retention_expires_at", memory.retention_expires_at)
        case State.SOFT_DELETED if _past(memory.hard_delete_at, reading.policy_now):
            return LifecycleStep(State.HARD_DELETE_PENDING, "hard_delete_at", memory.hard_delete_at)
        case State.HARD_DELETE_PENDING:
            return LifecycleStep(State.PURGED, "hard_delete_at", memory.hard_delete_at)
        case _:
            return None


def state_at(memory: Memory, reading: ClockReading) -> State:
    """Return the state that a reader must see, whether or not a sweep has run."""
    while (step := due_step(memory, reading)) and step.to is not State.PURGED:
        # Only the state: the grace period begins when the row really enters it.
        memory = replace(memory, state=step.to)
    return memory.state


def is_current(memory: Memory, reading: ClockReading) -> bool:
    """Return whether a memory is active and not superseded."""
    return not memory.superseded_by and state_at(memory, reading) is State.ACTIVE


def due_at(memory: Memory) -> datetime | None:
    """Return the earliest time at which `due_step` may return a step; the sweep's index stores it."""
    match memory.state:
        case State.ACTIVE:
            times = (memory.expires_at, memory.archive_at, memory.retention_expires_at)
        case State.ARCHIVED:
            times = (memory.expires_at, memory.retention_expires_at)
        case _:
            times = (memory.hard_delete_at,)
    return min([time for time in times if time is not None], default=None)


def enter(memory: Memory, state: State, now: datetime, rules: Retention) -> Memory:
    """Return the memory in another state with its times set; raise if the table does not allow the step."""
    if state is not memory.state and state not in STEPS[memory.state]:
        raise StepRefused(f"memory {memory.id!r} is {memory.state} and cannot become {state}")
    return replace(memory, state=state, **_times(memory, state, now, rules.of(memory.agent)))


def _times(memory: Memory, state: State, now: datetime, rules: Retention) -> dict[str, Any]:
    match state:
        case State.ACTIVE:
            return active_times(now, rules)
        case State.ARCHIVED:
            if _past(memory.archive_at, now):
                # Its deadline had passed: a late sweep must not restore what readers no longer saw.
                return {}
            expires = later(now, rules.archived) if rules.archived else None
            return {"archive_at": now, "retention_expires_at": expires}
        case State.SOFT_DELETED:
            return {"deleted_at": now, "hard_delete_at": later(now, rules.grace)}
        case _:
            return {}


def active_times(now: datetime, rules: Retention) -> dict[str, Any]:
    """Return the times of a memory that becomes active now."""
    fresh: dict[str, Any] = {"deleted_at": None, "hard_delete_at": None}
    if rules.active is None:
        return {**fresh, "archive_at": None, "retention_expires_at": None}
    rested = later(now, rules.active)
    if rules.archived is None:
        return {**fresh, "archive_at": None, "retention_expires_at": rested}
    return {**fresh, "archive_at": rested, "retention_expires_at": later(rested, rules.archived)}


def later(now: datetime, by: timedelta) -> datetime:
    """Return a time that far ahead, or the last possible time."""
    try:
        return now + by
    except OverflowError:
        return _END_OF_TIME


def check_restorable(memory: Memory, reading: ClockReading) -> None:
    """Raise when the grace period of a memory is over."""
    if state_at(memory, reading) not in (State.ARCHIVED, State.SOFT_DELETED, State.ACTIVE):
        raise StepRefused(f"memory {memory.id!r} is past its grace window and cannot be restored")


def _past(deadline: datetime | None, now: datetime) -> bool:
    return deadline is not None and deadline <= now
