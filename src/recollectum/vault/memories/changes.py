"""Writes one change of a memory: its row, its previous version, its index entries and its event."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from recollectum.domain.event import EventType
from recollectum.domain.hit import SourceKind
from recollectum.domain.memory import Memory, State
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.policy.clock import ClockReading, certain_reading
from recollectum.policy.lifecycle import LIVE, Retention, due_at, due_step, enter
from recollectum.recall.index import waiting
from recollectum.recall.index.chunk_index import index_memories, index_memory, reindex_memory
from recollectum.recall.index.passages import memory_hashes
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import citations, memories, served, versions
from recollectum.storage.tables.index import chunks, embedding_cache
from recollectum.storage.tables.learning import forgotten_spans, proposals
from recollectum.storage.tables.trail import events, quarantines
from recollectum.storage.tables.trail.quarantines import Quarantine
from recollectum.text.terms.similarity import fingerprint
from recollectum.vault.intake.admitted import AdmittedText
from recollectum.vault.intake.kept_secrets import queue_secret_deletion

#: The actor of life-cycle steps.
LIFECYCLE = "lifecycle"

_EVENT_OF = {
    State.ACTIVE: EventType.RESTORED,
    State.ARCHIVED: EventType.ARCHIVED,
    State.SOFT_DELETED: EventType.DELETED,
    State.HARD_DELETE_PENDING: EventType.DELETE_DUE,
}


@dataclass(frozen=True, slots=True)
class Change:
    """An open transaction with the actor and the time of a change."""

    tx: Tx
    actor: str
    at: datetime


def add(change: Change, memory: Memory, content: AdmittedText, mark: str | None = None) -> Memory:
    """Write a new memory with `content`; `mark` is its fingerprint, if known."""
    memory = _saying(memory, content)
    number = memories.insert(change.tx, memory, mark or fingerprint(content), due_at(memory))
    index_memory(change.tx, number, memory)
    _record_event(change, EventType.CREATED, memory)
    return memory


class Added(NamedTuple):
    """New active memories. A list of each is made in less time than a tuple for each memory."""

    memories: Sequence[Memory]
    contents: Sequence[AdmittedText]
    #: Their fingerprints.
    marks: Sequence[str]
    #: Whether each certainly tells of no person and no address.
    tell_of_nobody: Sequence[bool]


def add_many(change: Change, added: Added) -> None:
    """Write new active memories; each table gets its rows at once. They wait for the index until the next search."""
    if not added.memories:
        return
    told = [_saying(memory, content) for memory, content in zip(added.memories, added.contents, strict=True)]
    rows = memories.NewRows(told, added.marks, [*map(due_at, told)], added.tell_of_nobody)
    numbers = memories.insert_many(change.tx, rows)
    # Before the index, whose terms take the most time to make: a server writes these rows meanwhile.
    events.add_of_memories(change.tx, EventType.CREATED, told, _payload, at=change.at, actor=change.actor)
    if not waiting.defer(change.tx, "memories", numbers):
        keys = [one.key for one in told]
        index_memories(change.tx, zip(numbers, added.contents, keys, strict=True))


def update(
    change: Change,
    before: Memory,
    after: Memory,
    type: EventType,
    payload: dict[str, Json] | None = None,
    *,
    content: AdmittedText | None = None,
) -> Memory:
    """Update a memory and store its previous version. Without `content` its text stays."""
    after = _saying(after, before.content if content is None else content)
    if after.version != before.version:
        versions.keep(change.tx, before, after.updated_at)
    number = memories.update(change.tx, before, after, fingerprint(after.content), due_at(after))
    if (before.content, before.key, before.state) != (after.content, after.key, after.state):
        reindex_memory(change.tx, number, after)
    _update_forgotten_spans(change.tx, before, after)
    _record_event(change, type, after, payload)
    return after


def _saying(memory: Memory, content: str) -> Memory:
    return memory if memory.content is content else replace(memory, content=content)


def move(change: Change, memory: Memory, to: State, rules: Retention, because: str | None = None) -> Memory:
    """Take one step of the life cycle."""
    payload: dict[str, Json] = {"from": memory.state, "because": because} if because else {"from": memory.state}
    return update(change, memory, enter(memory, to, change.at, rules), _EVENT_OF[to], payload)


def supersede(change: Change, old: Memory, by: str, rules: Retention) -> Memory:
    """Mark a memory as superseded by another; it is archived and stays in its history."""
    ended = replace(
        old,
        superseded_by=by,
        valid_to=change.at,
        version=old.version + 1,
        updated_at=change.at,
        author=change.actor,
    )
    if old.state is State.ACTIVE:
        ended = enter(ended, State.ARCHIVED, change.at, rules)
    return update(change, old, ended, EventType.SUPERSEDED, {"by": by})


def apply_due_steps(tx: Tx, memory: Memory, reading: ClockReading, rules: Retention) -> Memory:
    """Take every due step short of destruction, so that a change starts from the current state.

    A doubtful clock moves nothing: the time may be corrected later, but the step could not be undone.
    """
    believed = certain_reading(reading.policy_now)
    change = Change(tx, LIFECYCLE, believed.now)
    while (step := due_step(memory, believed)) and step.to is not State.PURGED:
        memory = move(change, memory, step.to, rules, step.because)
    return memory


def destroy(change: Change, memory: Memory) -> bool:
    """Destroy a memory with its versions and index entries; its events stay, because they hold no content."""
    number = memories.number_of(change.tx, memory.id)
    forgotten_spans.add(change.tx, memory.id)
    if number is None or not memories.delete(change.tx, memory):
        return False
    for content in (memory.content, *(version.content for version in versions.of(change.tx, memory.id))):
        embedding_cache.forget(change.tx, memory_hashes(content))
        queue_secret_deletion(change.tx, content)
    versions.purge(change.tx, memory.id)
    citations.remove(change.tx, memory.id)
    queue_secret_deletion(change.tx, *proposals.remove_about(change.tx, memory.id))
    served.forget(change.tx, memory.id, change.at)
    chunks.remove(change.tx, SourceKind.MEMORIES, number)
    events.add(change.tx, EventType.PURGED, "memory", memory.id, at=change.at, actor=change.actor, state=State.PURGED)
    return True


def _update_forgotten_spans(tx: Tx, before: Memory, after: Memory) -> None:
    """Record that the source text of a forgotten memory must not be learned again, until it is restored."""
    if before.state in LIVE and after.state not in LIVE:
        forgotten_spans.add(tx, after.id)
    elif before.state not in LIVE and after.state in LIVE:
        forgotten_spans.remove(tx, after.id)


def _record_event(change: Change, type: EventType, memory: Memory, payload: dict[str, Json] | None = None) -> None:
    told = {**_payload(memory), **(payload or {})}
    events.add(change.tx, type, "memory", memory.id, at=change.at, actor=change.actor, state=memory.state, payload=told)


def _payload(memory: Memory) -> dict[str, Json]:
    return {"version": memory.version}


#: The reason in the event of such a memory.
QUARANTINE_REASON = "quarantine"


def apply_quarantine(
    change: Change,
    memory: Memory,
    rules: Retention,
    *,
    agent: str | None = None,
    message_id: str | None = None,
    standing: Sequence[Quarantine] | None = None,
) -> Memory:
    """Return the memory as written, or quarantined when its source is.

    The source is the caller, the `agent` and the message; where the memory came from before does not count. `standing`
    are the quarantines that are not released, if they are loaded.
    """
    if memory.state is not State.ACTIVE:
        return memory
    for one in quarantines.standing_ones(change.tx) if standing is None else standing:
        said_by = (f"author:{change.actor}", f"agent:{agent}")
        if one.source in said_by or (message_id and quarantines.holder(change.tx, message_id) == one.id):
            quarantines.add_memory(change.tx, one.id, memory.id)
            return move(change, memory, one.went, rules, QUARANTINE_REASON)
    return memory
