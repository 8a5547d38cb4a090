"""How one change of a memory is taken back: checked first, then written as a change like any other."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from recollectum.domain.errors import Conflict, StepRefused
from recollectum.domain.event import Event, EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.message import Json
from recollectum.policy.lifecycle import LIVE, due_at, enter, state_at
from recollectum.storage.tables import memories, undo
from recollectum.vault import changes
from recollectum.vault.review_writing import Desk

_TELLS = {State.ACTIVE: EventType.RESTORED, State.ARCHIVED: EventType.ARCHIVED, State.SOFT_DELETED: EventType.DELETED}


class Gone(StepRefused):
    """What a change was about is destroyed, or past the time in which it could come back."""


def check_event(desk: Desk, event: Event, stands: Mapping[str, Memory], together: Collection[str]) -> Memory:
    """The memory as it stood before an event, or a refusal in words; `stands` is how later undoes will have left it.

    `together` are the memories of the same step.
    """
    now = stands.get(event.subject_id) or _there(desk, event)
    left = undo.after(desk.tx, event.number, now)
    if left is None or left.version != event.payload.get("version", left.version) or _reads(left) != _reads(now):
        raise Conflict(
            f"memory {now.id!r} was changed after event {event.number}; undo the later change first, or edit it"
        )
    if event.type is EventType.CREATED:
        # In the trash, from where a redo takes it.
        return replace(now, state=State.SOFT_DELETED, deleted_at=None, hard_delete_at=desk.reading.now)
    image = _image(desk, event, now)
    if image.state in LIVE and now.state in LIVE and _is_past(image.expires_at, desk.reading.now):
        raise StepRefused(f"the time to live that memory {now.id!r} had before event {event.number} is over")
    _check_key(desk, image, together)
    return image


def undo_event(desk: Desk, event: Event, image: Memory) -> Memory:
    """Write the memory as it stood before an event that was checked."""
    now = _there(desk, event)
    told: dict[str, Json] = {"undoes": event.number, "from": now.state}
    again = _as_it_was(desk, now, image)
    type = _TELLS[again.state] if again.state is not now.state else EventType.EDITED
    return changes.put(desk.change, now, again, type, told)


def _there(desk: Desk, event: Event) -> Memory:
    found = memories.find(desk.tx, event.subject_id)
    if found is None:
        raise Gone(f"memory {event.subject_id!r} was destroyed for good, and nothing brings it back")
    now = changes.settle(desk.tx, found, desk.reading, desk.footing.retention)
    if state_at(now, desk.reading) in (State.HARD_DELETE_PENDING, State.PURGED):
        raise Gone(f"memory {now.id!r} is past its grace window and cannot be brought back")
    return now


def _image(desk: Desk, event: Event, now: Memory) -> Memory:
    image = undo.before(desk.tx, event.number, now)
    if image is None or image.state in (State.HARD_DELETE_PENDING, State.PURGED):
        raise StepRefused(f"how memory {now.id!r} stood before event {event.number} was not kept")
    return image


def _reads(memory: Memory) -> tuple[object, ...]:
    """What must be as a change left it before that change can be taken back."""
    return (
        *(memory.content, memory.key, memory.kind, memory.importance, memory.trust, memory.state),
        *(memory.valid_from, memory.valid_to, memory.supersedes, memory.superseded_by),
    )


def _check_key(desk: Desk, image: Memory, together: Collection[str]) -> None:
    holder = memories.find_by_key(desk.tx, image.key) if image.key and image.state is State.ACTIVE else None
    if holder is None or holder.id == image.id or holder.id in together:
        return
    settled = changes.settle(desk.tx, holder, desk.reading, desk.footing.retention)
    if settled.state is State.ACTIVE:
        raise Conflict(f"key {image.key!r} is held by memory {holder.id!r} now; forget or edit that one")


def _as_it_was(desk: Desk, now: Memory, image: Memory) -> Memory:
    at, rules = desk.reading.now, desk.footing.retention
    # Out of the trash the way leads over active, also for what was archived.
    out = now.state is State.SOFT_DELETED and image.state is State.ARCHIVED
    entered = enter(enter(now, State.ACTIVE, at, rules) if out else now, image.state, at, rules)
    worded = image.version != now.version
    again = replace(
        image,
        version=now.version + 1 if worded else now.version,
        updated_at=at if worded else image.updated_at,
        expires_at=None if _is_past(image.expires_at, at) else image.expires_at,
    )
    if not _is_past(due_at(again), at):
        return again
    # Its old deadlines have passed, and would move it on at once.
    return replace(
        again,
        archive_at=entered.archive_at,
        retention_expires_at=entered.retention_expires_at,
        deleted_at=entered.deleted_at,
        hard_delete_at=entered.hard_delete_at,
    )


def _is_past(deadline: datetime | None, now: datetime) -> bool:
    return deadline is not None and deadline <= now
