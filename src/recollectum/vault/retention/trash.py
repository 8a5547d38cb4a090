"""Lists and restores deleted memories, and runs the sweeps that empty the trash."""

import builtins
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, InvalidInput, StepRefused
from recollectum.domain.event import EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.page import LAST_NUMBER, Page, cut_page, number_of
from recollectum.domain.records import dataclass
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import LIVE, check_restorable, due_at, due_step, enter, state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, memory_pages
from recollectum.storage.tables.trail import events, meta, sweeps, undo
from recollectum.storage.tables.trail.sweeps import Sweep, SweepState
from recollectum.storage.tables.trail.undo import Range
from recollectum.vault.gate import operation
from recollectum.vault.intake.draft import MAX_PAGE, check_aware, check_limit
from recollectum.vault.memories import changes
from recollectum.vault.messages import get_session
from recollectum.vault.retention.lifecycle import MAX_STEPS, due_moves, take_due_steps
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

#: The deadlines of the retention, which people do not set themselves.
_BY_AGE = frozenset({"archive_at", "retention_expires_at"})
_RESTORABLE = frozenset({State.ARCHIVED, State.SOFT_DELETED})
#: Set when a person agreed that sweeps may destroy memories after their grace window.
_AGREED = "retention_agreed"


@dataclass(frozen=True, slots=True)
class UnrestoredMemory:
    """A memory that stayed where it was, and why."""

    memory_id: str
    why: str


@dataclass(frozen=True, slots=True)
class Restored:
    """The memories that were moved out of the trash, or into it, and those that were left."""

    memories: tuple[Memory, ...]
    left: tuple[UnrestoredMemory, ...] = ()
    #: The last event of it, by which all of it is undone; None when nothing was moved.
    event: int | None = None


class Trash(VaultService):
    """The deleted memories of one vault, until their grace window ends."""

    @operation(Action.MEMORY_READ, Scope.USER)
    def list(
        self, *, since: datetime | None = None, until: datetime | None = None, session_id: str | None = None
    ) -> builtins.list[Memory]:
        """Return deleted memories, newest first: all, those deleted between two times, or those of a session."""
        wanted = _deleted_between(since, until)
        return self._runtime.read(lambda tx, reading: _select_deleted(tx, reading, wanted, session_id))

    @operation(Action.MEMORY_DELETE, Scope.USER, reads=True)
    def add(self, memory_ids: Iterable[str]) -> Restored:
        """Forget up to 1,000 memories in one transaction that is undone as one step; leave those that cannot be."""
        wanted = _check_ids(memory_ids)

        def change(tx: Tx, reading: ClockReading) -> Restored:
            return Restored(*_move_each(tx, wanted, lambda one: _discard(tx, one, reading, self._runtime)))

        return self._runtime.write(change, frees=True)

    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True)
    def restore(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        session_id: str | None = None,
        memory_ids: Iterable[str] | None = None,
    ) -> Restored:
        """Restore all that `list` finds, in one transaction that can be undone; at least one filter is required.

        With `memory_ids`, restore these instead, up to 1,000, from the trash or the archive.
        """
        if memory_ids is not None:
            if not since is until is session_id is None:
                raise InvalidInput("choose what to restore: by ids, or by a time of deletion or a session; not by both")
            named = _check_ids(memory_ids)
            return self._runtime.write(lambda tx, reading: _restore_all(tx, reading, self._runtime, named))
        if since is until is session_id is None:
            raise InvalidInput("choose what to restore: a time of deletion, or a session; restore one memory by its id")
        wanted = _deleted_between(since, until)

        def change(tx: Tx, reading: ClockReading) -> Restored:
            chosen = _select_deleted(tx, reading, wanted, session_id)
            return _restore_all(tx, reading, self._runtime, [one.id for one in chosen])

        return self._runtime.write(change)

    @operation(Action.MEMORY_READ, Scope.USER)
    def list_aged(self) -> builtins.list[Memory]:
        """Return the memories that age alone archived or deleted, oldest first."""
        return self._runtime.read(lambda tx, reading: _select_aged(tx, reading))

    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True)
    def restore_aged(self) -> Restored:
        """Restore all that `list_aged` finds, in one transaction that can be undone."""

        def change(tx: Tx, reading: ClockReading) -> Restored:
            return _restore_all(tx, reading, self._runtime, [one.id for one in _select_aged(tx, reading)])

        return self._runtime.write(change)

    @operation(Action.LIFECYCLE_RUN, Scope.USER, reads=True)
    def sweep(self, *, agreed: bool = False) -> Sweep:
        """Take the due steps and report them; before this vault's first destruction a person must agree."""
        lost = sum(move.after is State.PURGED for move in due_moves(self._runtime))
        if lost and not agreed and not self._runtime.read(lambda tx, _: _has_agreed(tx)):
            return self._report(lambda at: Sweep(at=at, state=SweepState.NEEDS_CONFIRMATION, waiting=lost))
        if agreed:
            self._runtime.write(lambda tx, _: meta.save(tx, _AGREED, "1"))
        done = take_due_steps(self._runtime)
        return self._report(
            lambda at: Sweep(
                at=at,
                state=SweepState.DONE if done.held_since is None else SweepState.HELD,
                archived=done.archived,
                deleted=done.deleted,
                marked=done.marked,
                purged=done.purged,
                erased=done.erased,
            )
        )

    @operation(Action.MEMORY_READ, Scope.USER)
    def list_sweeps(self, *, cursor: str | None = None, limit: int = 50) -> Page[Sweep]:
        """Return the newest reports of sweeps: counts, no content."""
        size = check_limit(limit, MAX_PAGE)
        before = number_of(cursor)
        found = self._runtime.read(lambda tx, _: sweeps.page(tx, before=before, limit=size + 1))
        return cut_page(found, size, lambda one: one.number)

    def _report(self, make: Callable[[datetime], Sweep]) -> Sweep:
        def change(tx: Tx, reading: ClockReading) -> Sweep:
            made = make(reading.now)
            return replace(made, number=sweeps.add(tx, made))

        done = self._runtime.write(change, frees=True)
        counts = ("archived", "deleted", "marked", "purged", "waiting", "erased")
        told = {name: getattr(done, name) for name in counts}
        self._runtime.log.info("retention.sweep", {"state": done.state.value, **told})
        return done


def _check_ids(memory_ids: Iterable[str]) -> list[str]:
    """Return the ids, each once; raise when there are none, or too many for one transaction."""
    found = list(dict.fromkeys(memory_ids))
    if not found:
        raise InvalidInput("no memory is named; name at least one by its id")
    if len(found) > MAX_PAGE:
        raise InvalidInput(f"{len(found)} memories are named, and {MAX_PAGE} can be moved at once; name fewer")
    return found


def _restore_all(tx: Tx, reading: ClockReading, runtime: VaultRuntime, chosen: list[str]) -> Restored:
    return Restored(*_move_each(tx, chosen, lambda one: restore_memory(tx, one, reading, runtime)))


def _move_each(
    tx: Tx, chosen: list[str], step: Callable[[str], Memory]
) -> tuple[tuple[Memory, ...], tuple[UnrestoredMemory, ...], int | None]:
    """Move each memory that can be moved, as one step of the undo; return them, those left, and the last event."""
    begun = undo.last_event(tx)
    moved: list[Memory] = []
    left: list[UnrestoredMemory] = []
    for memory_id in chosen:
        try:
            moved.append(step(memory_id))
        except (Conflict, StepRefused) as error:
            left.append(UnrestoredMemory(memory_id, str(error)))
    if not moved:
        return (), tuple(left), None
    ended = undo.last_event(tx)
    undo.add_step(tx, Range(begun + 1, ended))
    return tuple(moved), tuple(left), ended


def _discard(tx: Tx, memory_id: str, reading: ClockReading, runtime: VaultRuntime) -> Memory:
    found = memories.find(tx, memory_id)
    if found is None:
        raise StepRefused(f"memory {memory_id!r} is destroyed, or was never here")
    memory = changes.apply_due_steps(tx, found, reading, runtime.retention)
    if state_at(memory, reading) not in LIVE:
        raise StepRefused(f"memory {memory_id!r} is in the trash already")
    change = changes.Change(tx, runtime.actor, reading.now)
    return changes.move(change, memory, State.SOFT_DELETED, runtime.retention)


def restore_memory(tx: Tx, memory_id: str, reading: ClockReading, runtime: VaultRuntime) -> Memory:
    """Make a memory active again; raise when it cannot be restored."""
    found = memories.find(tx, memory_id)
    if found is None:
        raise StepRefused(f"memory {memory_id!r} is destroyed")
    rules = runtime.retention
    memory = changes.apply_due_steps(tx, found, reading, rules)
    check_restorable(memory, reading)
    if memory.superseded_by:
        raise StepRefused(f"memory {memory.id!r} was superseded by {memory.superseded_by!r}; edit that one")
    holder = memories.find_by_key(tx, memory.key, memory.project) if memory.key else None
    if holder and changes.apply_due_steps(tx, holder, reading, rules).state is State.ACTIVE:
        raise Conflict(f"key {memory.key!r} is held by memory {holder.id!r} now; forget or edit that one")
    # A deadline in the past would delete it again at once.
    expired = memory.expires_at is not None and memory.expires_at <= reading.now
    back = enter(replace(memory, expires_at=None) if expired else memory, State.ACTIVE, reading.now, rules)
    change = changes.Change(tx, runtime.actor, reading.now)
    return changes.update(change, memory, back, EventType.RESTORED, {"from": memory.state})


def _has_agreed(tx: Tx) -> bool:
    # A person who destroyed by hand was asked then.
    return meta.find(tx, _AGREED) == "1" or undo.ever_destroyed(tx, changes.LIFECYCLE)


def _deleted_between(since: datetime | None, until: datetime | None) -> Callable[[Memory], bool]:
    check_aware("since", since)
    check_aware("until", until)

    def keep(memory: Memory) -> bool:
        # A memory whose deadline passed before a sweep counts as deleted at that deadline.
        at = memory.deleted_at or due_at(memory)
        return at is not None and (since is None or at >= since) and (until is None or at < until)

    return keep


def _select_deleted(
    tx: Tx, reading: ClockReading, wanted: Callable[[Memory], bool], session_id: str | None
) -> list[Memory]:
    from_session = None if session_id is None else undo.from_session(tx, get_session(tx, session_id).id)

    def is_deleted(memory: Memory) -> bool:
        return state_at(memory, reading) is State.SOFT_DELETED

    if from_session is not None:
        found = [one for one in memories.find_many(tx, sorted(from_session, reverse=True)) if is_deleted(one)]
    else:
        found = memory_pages.page(tx, State.SOFT_DELETED, reading, limit=LAST_NUMBER)
    return [replace(one, state=State.SOFT_DELETED) for one in found if wanted(one)]


def _select_aged(tx: Tx, reading: ClockReading) -> list[Memory]:
    swept = memories.find_many(tx, events.memories_moved_by(tx, changes.LIFECYCLE))
    found = [one for one in swept if _has_aged(tx, one)]
    # Those that no sweep has moved yet.
    found += [one for one in memories.due(tx, reading.now, MAX_STEPS) if _ages_now(one, reading)]
    states = {one.id: state_at(one, reading) for one in found}
    return [replace(one, state=states[one.id]) for one in found if states[one.id] in _RESTORABLE]


def _ages_now(memory: Memory, reading: ClockReading) -> bool:
    step = due_step(memory, reading) if memory.state is State.ACTIVE else None
    return step is not None and step.because in _BY_AGE


def _has_aged(tx: Tx, memory: Memory) -> bool:
    """Return whether age alone took a memory from active to where it is."""
    steps = [one for one in events.of(tx, memory.id) if one.type in (EventType.ARCHIVED, EventType.DELETED)]
    since_active = [one for one in steps if one.payload.get("from") == State.ACTIVE][-1:] + steps[-1:]
    return all(one.actor == changes.LIFECYCLE and one.payload.get("because") in _BY_AGE for one in since_active)
