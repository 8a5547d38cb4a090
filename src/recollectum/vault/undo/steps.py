"""Groups events into steps that are undone together, and writes the undo of each event."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from recollectum.domain.errors import Conflict, StepRefused
from recollectum.domain.event import Event, EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.policy.lifecycle import LIVE, Retention, due_at, enter, state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories
from recollectum.storage.tables.learning import runs
from recollectum.storage.tables.trail import events, undo
from recollectum.vault.intake.admitted import stored_text
from recollectum.vault.memories import changes
from recollectum.vault.memories.changes import LIFECYCLE
from recollectum.vault.review.writing import ChangeContext

#: Changes of a memory that have a previous version.
UNDOABLE = frozenset(
    {
        EventType.CREATED,
        EventType.DEDUPLICATED,
        EventType.EDITED,
        EventType.SUPERSEDED,
        EventType.ARCHIVED,
        EventType.RESTORED,
        EventType.DELETED,
    }
)
#: Changes of a conversation that cannot be undone, by what to do instead.
_FINAL = frozenset({EventType.IMPORTED, EventType.DELETED, EventType.PRUNED})


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    """A group of changes that are undone together."""

    #: Its newest event, which names the step.
    event: int
    at: datetime
    type: EventType
    actor: str
    #: The memories or the session that it changed.
    subjects: tuple[str, ...]
    #: Its consolidation run, or the runs that it reverted.
    run_ids: tuple[str, ...] = ()
    #: Its events, newest first.
    events: tuple[Event, ...] = ()


def find_step(tx: Tx, event: Event) -> UndoStep:
    """Return the step that contains an event."""
    if event.subject != "memory":
        return _make_step((event,))
    around = undo.step_around(tx, event.number)
    if around:
        numbers = range(around.first, around.last + 1)
        found = [one for number in reversed(numbers) if (one := undo.event(tx, number)) and _is_undoable(one)]
        return _make_step(tuple(found) or (event,), around.run_ids)
    other = _paired_event(tx, event)
    return _make_step(tuple(sorted((event, other), key=lambda one: -one.number)) if other else (event,))


def latest_steps(tx: Tx) -> Iterator[UndoStep]:
    """Yield the steps that somebody took, newest first; automatic life-cycle steps are left out."""
    covered: set[int] = set()
    read_at: set[datetime] = set()
    for event in undo.newest_first(tx):
        if event.number in covered or event.at in read_at or not _is_step(event):
            continue
        run = _run_step(tx, event)
        if run:
            # All events of a run have the same time.
            read_at.add(event.at)
            yield run
            continue
        step = find_step(tx, event)
        covered.update(one.number for one in step.events)
        yield step


def _run_step(tx: Tx, event: Event) -> UndoStep | None:
    version = event.payload.get("version")
    if event.subject != "memory" or not isinstance(version, int) or undo.step_around(tx, event.number):
        return None
    run_id = undo.run_of(tx, event.subject_id, version)
    run = runs.find(tx, run_id) if run_id else None
    # A later change of the same version, such as forgetting it, is not part of the run.
    return _make_step((event,), (run.id,)) if run and run.at == event.at else None


def _paired_event(tx: Tx, event: Event) -> Event | None:
    """Return the other event of a supersede, which writes two: the end of one memory and the start of another."""
    memory = memories.find(tx, event.subject_id)
    if memory is None:
        return None
    if event.type is EventType.SUPERSEDED and memory.superseded_by:
        successor = memories.find(tx, memory.superseded_by)
        found = undo.created(tx, memory.superseded_by) if successor and successor.supersedes == memory.id else None
    elif event.type is EventType.CREATED and memory.supersedes:
        ends = [one for one in events.of(tx, memory.supersedes) if one.type is EventType.SUPERSEDED]
        found = ends[-1] if ends else None
    else:
        return None
    return found if found and found.at == event.at else None


def _is_step(event: Event) -> bool:
    return _is_undoable(event) or (event.subject == "session" and event.type in _FINAL)


def _is_undoable(event: Event) -> bool:
    made = event.type in UNDOABLE or event.type is EventType.PURGED
    return event.subject == "memory" and event.actor != LIFECYCLE and made


def _make_step(found: tuple[Event, ...], run_ids: tuple[str, ...] = ()) -> UndoStep:
    first = found[0]
    return UndoStep(
        event=first.number,
        at=first.at,
        type=first.type,
        actor=first.actor,
        subjects=tuple(dict.fromkeys(one.subject_id for one in found)),
        run_ids=run_ids,
        events=found,
    )


_EVENT_BY_STATE = {
    State.ACTIVE: EventType.RESTORED,
    State.ARCHIVED: EventType.ARCHIVED,
    State.SOFT_DELETED: EventType.DELETED,
}


class UndoTargetGone(StepRefused):
    """Raised when the memory of a change is destroyed, or past the time in which it could be restored."""


def check_event(desk: ChangeContext, event: Event, stands: Mapping[str, Memory], together: Collection[str]) -> Memory:
    """Return the memory as it was before an event; raise when that cannot be restored.

    `stands` holds the state that later undos will leave. `together` are the memories of the same step.
    """
    now = stands.get(event.subject_id) or _get_target(desk, event)
    left = undo.after(desk.tx, event.number, now)
    if (
        left is None
        or left.version != event.payload.get("version", left.version)
        or _comparable_fields(left) != _comparable_fields(now)
    ):
        raise Conflict(
            f"memory {now.id!r} was changed after event {event.number}; undo the later change first, or edit it"
        )
    if event.type is EventType.CREATED:
        # In the trash, from where a redo takes it.
        return replace(now, state=State.SOFT_DELETED, deleted_at=None, hard_delete_at=desk.reading.now)
    image = _before_image(desk, event, now)
    if image.state in LIVE and now.state in LIVE and _is_past(image.expires_at, desk.reading.now):
        raise StepRefused(f"the time to live that memory {now.id!r} had before event {event.number} is over")
    _check_key(desk, image, together)
    return image


def undo_event(desk: ChangeContext, event: Event, image: Memory) -> Memory:
    """Write the memory as it was before an event that was checked."""
    now = _get_target(desk, event)
    told: dict[str, Json] = {"undoes": event.number, "from": now.state}
    again = _as_it_was(desk, now, image)
    type = _EVENT_BY_STATE[again.state] if again.state is not now.state else EventType.EDITED
    return changes.update(desk.change, now, again, type, told, content=stored_text(again.content))


def _get_target(desk: ChangeContext, event: Event) -> Memory:
    found = memories.find(desk.tx, event.subject_id)
    if found is None:
        raise UndoTargetGone(f"memory {event.subject_id!r} was destroyed for good, and cannot be restored")
    now = changes.apply_due_steps(desk.tx, found, desk.reading, desk.runtime.retention)
    if state_at(now, desk.reading) in (State.HARD_DELETE_PENDING, State.PURGED):
        raise UndoTargetGone(f"memory {now.id!r} is past its grace window and cannot be restored")
    return now


def _before_image(desk: ChangeContext, event: Event, now: Memory) -> Memory:
    image = undo.before(desk.tx, event.number, now)
    if image is None or image.state in (State.HARD_DELETE_PENDING, State.PURGED):
        raise StepRefused(f"the state of memory {now.id!r} before event {event.number} was not kept")
    return image


def _comparable_fields(memory: Memory) -> tuple[object, ...]:
    """Return the fields that must be as a change left them before that change can be undone."""
    return (
        *(memory.content, memory.key, memory.kind, memory.importance, memory.trust, memory.state),
        *(memory.valid_from, memory.valid_to, memory.supersedes, memory.superseded_by),
    )


def _check_key(desk: ChangeContext, image: Memory, together: Collection[str]) -> None:
    holder = _holder_of_key(desk, image)
    if holder is None or holder.id == image.id or holder.id in together:
        return
    settled = changes.apply_due_steps(desk.tx, holder, desk.reading, desk.runtime.retention)
    if settled.state is State.ACTIVE:
        raise Conflict(f"key {image.key!r} is held by memory {holder.id!r} now; forget or edit that one")


def _holder_of_key(desk: ChangeContext, image: Memory) -> Memory | None:
    if not image.key or image.state is not State.ACTIVE:
        return None
    return memories.find_by_key(desk.tx, image.key, image.project)


def _as_it_was(desk: ChangeContext, now: Memory, image: Memory) -> Memory:
    at, rules = desk.reading.now, desk.runtime.retention
    # From the trash a memory must first become active, even if it was archived.
    out = now.state is State.SOFT_DELETED and image.state is State.ARCHIVED
    entered = enter(enter(now, State.ACTIVE, at, rules) if out else now, image.state, at, rules)
    worded = image.version != now.version
    again = replace(
        image,
        version=now.version + 1 if worded else now.version,
        updated_at=at if worded else image.updated_at,
        expires_at=None if _is_past(image.expires_at, at) else image.expires_at,
    )
    if not _is_past(due_at(again), at) and _has_deadlines_of(rules.of(again.agent), again):
        return again
    # Its old deadlines have passed and would move it on at once, or they are of another retention.
    return replace(
        again,
        archive_at=entered.archive_at,
        retention_expires_at=entered.retention_expires_at,
        deleted_at=entered.deleted_at,
        hard_delete_at=entered.hard_delete_at,
    )


def _has_deadlines_of(rules: Retention, memory: Memory) -> bool:
    """Return whether a memory has deadlines where the retention sets some, and none where it does not."""
    periods = {State.ACTIVE: rules.active, State.ARCHIVED: rules.archived}
    has = memory.retention_expires_at is not None
    return memory.state not in periods or has is (periods[memory.state] is not None)


def _is_past(deadline: datetime | None, now: datetime) -> bool:
    return deadline is not None and deadline <= now
