"""What belongs together when it is undone: one change, a pair of them, an undo, or a whole consolidation run."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from recollectum.domain.event import Event, EventType
from recollectum.storage.port import Tx
from recollectum.storage.tables import events, memories, runs, undo
from recollectum.vault.changes import LIFECYCLE

#: Changes of a memory that have a before.
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
#: What happens to a conversation and cannot be undone, by what to do instead.
_FINAL = frozenset({EventType.IMPORTED, EventType.DELETED, EventType.PRUNED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something that was done, and is undone as one."""

    #: The newest event of it, by which it is named.
    event: int
    at: datetime
    type: EventType
    actor: str
    #: The memories or the session that it is about.
    subjects: tuple[str, ...]
    #: The consolidation run that it is, or those that it took back.
    run_ids: tuple[str, ...] = ()
    #: Its events, newest first.
    events: tuple[Event, ...] = ()


def step_of(tx: Tx, event: Event) -> Step:
    """The step that an event is a part of."""
    if event.subject != "memory":
        return _made((event,))
    around = undo.step_around(tx, event.number)
    if around:
        numbers = range(around.first, around.last + 1)
        found = [one for number in reversed(numbers) if (one := undo.event(tx, number)) and _counts(one)]
        return _made(tuple(found) or (event,), around.run_ids)
    other = _companion(tx, event)
    return _made(tuple(sorted((event, other), key=lambda one: -one.number)) if other else (event,))


def latest(tx: Tx) -> Iterator[Step]:
    """The steps that somebody took, newest first; what time did by itself is not among them."""
    covered: set[int] = set()
    read_at: set[datetime] = set()
    for event in undo.newest_first(tx):
        if event.number in covered or event.at in read_at or not _is_step(event):
            continue
        run = _run_step(tx, event)
        if run:
            # All of a run was written at one time.
            read_at.add(event.at)
            yield run
            continue
        step = step_of(tx, event)
        covered.update(one.number for one in step.events)
        yield step


def _run_step(tx: Tx, event: Event) -> Step | None:
    version = event.payload.get("version")
    if event.subject != "memory" or not isinstance(version, int) or undo.step_around(tx, event.number):
        return None
    run_id = undo.run_of(tx, event.subject_id, version)
    run = runs.find(tx, run_id) if run_id else None
    # A later change of the same version, such as forgetting it, is no part of the run.
    return _made((event,), (run.id,)) if run and run.at == event.at else None


def _companion(tx: Tx, event: Event) -> Event | None:
    """Superseding writes two events: the end of one memory and the beginning of another."""
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
    return _counts(event) or (event.subject == "session" and event.type in _FINAL)


def _counts(event: Event) -> bool:
    made = event.type in UNDOABLE or event.type is EventType.PURGED
    return event.subject == "memory" and event.actor != LIFECYCLE and made


def _made(found: tuple[Event, ...], run_ids: tuple[str, ...] = ()) -> Step:
    first = found[0]
    return Step(
        event=first.number,
        at=first.at,
        type=first.type,
        actor=first.actor,
        subjects=tuple(dict.fromkeys(one.subject_id for one in found)),
        run_ids=run_ids,
        events=found,
    )
