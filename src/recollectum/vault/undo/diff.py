"""Compares the memories of an earlier time with those of now."""

from collections.abc import Mapping
from datetime import datetime

from recollectum.domain.event import EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.records import dataclass
from recollectum.policy.clock import ClockReading, certain_reading
from recollectum.policy.lifecycle import state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, versions
from recollectum.storage.tables.trail import events, undo
from recollectum.vault.memories.history import History


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """A memory as it read then, and its replacement now."""

    before: Memory
    after: Memory


@dataclass(frozen=True, slots=True)
class ForgottenMemory:
    """A memory that was active then and is not now."""

    memory_id: str
    state: State
    #: Only for archived memories: the text of deleted ones is not shown.
    memory: Memory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The changes of memories between a time and now, each list ordered by id."""

    since: datetime
    until: datetime
    learned: tuple[Memory, ...]
    changed: tuple[ChangedMemory, ...]
    #: Not active then, active again now.
    restored: tuple[Memory, ...]
    forgotten: tuple[ForgottenMemory, ...]


def compare_memories(tx: Tx, since: datetime, reading: ClockReading) -> Diff:
    """Return the difference between the memories that were active at a time and those that are now."""
    every = {memory.id: memory for _, memory in memories.everything(tx)}
    then = _active_then(tx, since)
    now = {one.id: one for one in every.values() if not one.superseded_by and state_at(one, reading) is State.ACTIVE}
    changed = [
        ChangedMemory(then[one], now[one])
        for one in then.keys() & now.keys()
        if _comparable_fields(then[one]) != _comparable_fields(now[one])
    ]
    lost = then.keys() - now.keys()
    replaced = {one: end for one in lost if (end := _successor(every, one)) in now and end not in then}
    changed += [ChangedMemory(then[one], now[end]) for one, end in replaced.items()]
    new = now.keys() - then.keys() - set(replaced.values())
    forgotten = [_forgotten(every[one], reading) for one in lost - replaced.keys()]
    return Diff(
        since=since,
        until=reading.now,
        learned=tuple(now[one] for one in sorted(new) if now[one].created_at > since),
        changed=tuple(sorted(changed, key=lambda one: (one.before.id, one.after.id))),
        restored=tuple(now[one] for one in sorted(new) if now[one].created_at <= since),
        forgotten=tuple(sorted([*forgotten, *_destroyed(tx, since)], key=lambda one: one.memory_id)),
    )


def _active_then(tx: Tx, since: datetime) -> dict[str, Memory]:
    states, before = events.states_at(tx, since), versions.standing_at(tx, since)
    found: dict[str, Memory] = {}
    for memory in memories.created_by(tx, since):
        past = History.as_it_read(memory, before.get(memory.id), states.get(memory.id))
        if past.state is State.ACTIVE and state_at(past, certain_reading(since)) is State.ACTIVE:
            found[memory.id] = past
    return found


def _successor(every: Mapping[str, Memory], memory_id: str) -> str:
    """Return the last memory in the chain of replacements."""
    seen = {memory_id}
    while (found := every.get(memory_id)) and found.superseded_by and found.superseded_by not in seen:
        memory_id = found.superseded_by
        seen.add(memory_id)
    return memory_id


def _comparable_fields(memory: Memory) -> tuple[object, ...]:
    return (memory.content, memory.key, memory.kind, memory.importance, memory.valid_from, memory.valid_to)


def _forgotten(memory: Memory, reading: ClockReading) -> ForgottenMemory:
    state = state_at(memory, reading)
    return ForgottenMemory(memory.id, state, memory if state is State.ARCHIVED else None)


def _destroyed(tx: Tx, since: datetime) -> list[ForgottenMemory]:
    """Return what was active then and is destroyed now, by id: its events outlive it."""
    found: list[str] = []
    for event in undo.newest_first(tx):
        if event.at <= since:
            break
        if event.subject == "memory" and event.type is EventType.PURGED:
            found.append(event.subject_id)
    if not found:
        return []
    then = events.states_at(tx, since)
    return [ForgottenMemory(one, State.PURGED) for one in found if then.get(one) is State.ACTIVE]
