"""Turns an admitted draft into a new memory, a new version under its key, or a renewal of a duplicate."""

import gc
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.memory import Memory, SaveOutcome, SaveResult, State
from recollectum.domain.trust import Trust, least_trusted
from recollectum.policy.clock import ClockReading
from recollectum.policy.duplicates import find_duplicate, is_same_time, later_deadline
from recollectum.policy.lifecycle import LIVE, active_times, enter
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, messages, sessions
from recollectum.storage.tables.trail import quarantines
from recollectum.storage.tables.trail.quarantines import Quarantine
from recollectum.text.terms.similarity import fingerprint
from recollectum.vault.intake.admitted import AdmittedMemory
from recollectum.vault.intake.kept_secrets import queue_secret_deletion
from recollectum.vault.intake.trust import check_shared_trust
from recollectum.vault.memories import changes
from recollectum.vault.memories.changes import apply_quarantine
from recollectum.vault.runtime import VaultRuntime

#: How many memories are written at once: a server begins with them while the next ones are made.
_TOGETHER = 500


@contextmanager
def without_collection() -> Generator[None]:
    """Pause Python's garbage collector: it would look at all new memories again and again, and none is garbage."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def save_drafts(
    tx: Tx, drafts: Sequence[AdmittedMemory], reading: ClockReading, runtime: VaultRuntime, *, one_waits: bool = False
) -> list[SaveResult]:
    """Save admitted drafts in order; see `save_draft`.

    Several that are new are written together, and wait for the index; with `one_waits` a list of one does so, too.
    """
    standing = quarantines.standing_ones(tx)
    if standing or (len(drafts) == 1 and not one_waits):
        return [save_draft(tx, draft, reading, runtime, standing) for draft in drafts]
    return _save_together(tx, drafts, reading, runtime)


def _save_together(
    tx: Tx, drafts: Sequence[AdmittedMemory], reading: ClockReading, runtime: VaultRuntime
) -> list[SaveResult]:
    """Save many drafts: new ones wait until a known text or key comes, or there are enough, and are written at once."""
    marks = [fingerprint(draft.content) for draft in drafts]
    # A text or key that a memory had when this began, or got since, takes the long way; it may be free by now.
    texts = memories.known_marks(tx, marks)
    keys = memories.known_keys(tx, [draft.key for draft in drafts if draft.key])
    change = changes.Change(tx, runtime.actor, reading.now)
    saved: list[SaveResult] = []
    #: From here on the drafts are new, and wait.
    first = 0
    for place, (draft, mark) in enumerate(zip(drafts, marks, strict=True)):
        is_known = mark in texts or draft.key in keys
        if is_known or place - first == _TOGETHER:
            saved += _add_new(change, drafts[first:place], marks[first:place], runtime)
            first = place
        if is_known:
            saved.append(save_draft(tx, draft, reading, runtime, ()))
            first = place + 1
        texts.add(mark)
        if draft.key:
            keys.add(draft.key)
    return saved + _add_new(change, drafts[first:], marks[first:], runtime)


def _add_new(
    change: changes.Change, drafts: Sequence[AdmittedMemory], marks: Sequence[str], runtime: VaultRuntime
) -> list[SaveResult]:
    """Write the first versions of new memories, each with its fingerprint."""
    new: list[Memory] = []
    times: dict[str | None, dict[str, Any]] = {}
    for id, draft in zip(runtime.ids.many("mem", len(drafts)), drafts, strict=True):
        expires_at = _deadline(draft, change.at)
        trust = check_shared_trust(runtime.gate.owner, _least_trust(change.tx, draft))
        if draft.agent not in times:
            times[draft.agent] = active_times(change.at, runtime.retention.of(draft.agent))
        new.append(_new_memory(id, draft, expires_at, trust, change, times[draft.agent]))
    contents = [draft.content for draft in drafts]
    changes.add_many(change, changes.Added(new, contents, marks, [draft.tells_of_nobody for draft in drafts]))
    return [SaveResult(one, SaveOutcome.CREATED) for one in new]


def save_draft(
    tx: Tx,
    draft: AdmittedMemory,
    reading: ClockReading,
    runtime: VaultRuntime,
    standing: Sequence[Quarantine] | None = None,
) -> SaveResult:
    """Save an admitted draft as a new memory, a new version or a renewal; nothing is stored twice or lost.

    `standing` are the quarantines that are not released, if they are loaded.
    """
    expires_at = _deadline(draft, reading.now)
    trust = check_shared_trust(runtime.gate.owner, _least_trust(tx, draft))
    mark = fingerprint(draft.content)
    change = changes.Change(tx, runtime.actor, reading.now)
    holder = _find_key_holder(tx, draft, reading, runtime)
    twin = (
        holder if holder and _says_the_same(holder, draft, mark) else _find_duplicate(tx, draft, mark, reading, runtime)
    )
    if twin and (holder is None or twin.id == holder.id):
        outcome, saved = SaveOutcome.RENEWED, _renew(change, twin, draft, expires_at, runtime)
    elif holder:
        outcome, saved = SaveOutcome.CHANGED, _replace_content(change, holder, draft, expires_at, trust, runtime)
    else:
        times = active_times(change.at, runtime.retention.of(draft.agent))
        new = _new_memory(runtime.ids("mem"), draft, expires_at, trust, change, times)
        outcome, saved = SaveOutcome.CREATED, changes.add(change, new, draft.content, mark)
    source = {"agent": draft.agent, "message_id": draft.message_id}
    kept = apply_quarantine(change, saved, runtime.retention, **source, standing=standing)
    return SaveResult(kept, outcome)


def _deadline(draft: AdmittedMemory, now: datetime) -> datetime | None:
    try:
        return now + draft.ttl if draft.ttl else None
    except OverflowError:
        raise InvalidInput(f"ttl {draft.ttl} reaches beyond the last date of the calendar; leave it out") from None


def _find_key_holder(tx: Tx, draft: AdmittedMemory, reading: ClockReading, runtime: VaultRuntime) -> Memory | None:
    """Return the live memory that holds the draft's key."""
    held = memories.find_by_key(tx, draft.key, draft.project) if draft.key else None
    return _if_live(tx, held, reading, runtime)


def _find_duplicate(
    tx: Tx, draft: AdmittedMemory, mark: str, reading: ClockReading, runtime: VaultRuntime
) -> Memory | None:
    """Return a live memory with the same content."""
    alike = memories.alike(tx, mark, draft.kind, draft.project)
    live = (found for one in alike if (found := _if_live(tx, one, reading, runtime)))
    candidates = [one for one in live if one.state is State.ACTIVE or not _key_is_taken(tx, one)]
    return find_duplicate(candidates, key=draft.key, valid_from=draft.valid_from, valid_to=draft.valid_to)


def _key_is_taken(tx: Tx, archived: Memory) -> bool:
    """Return whether another memory holds the key that this one would get when restored."""
    holder = memories.find_by_key(tx, archived.key, archived.project) if archived.key else None
    return holder is not None and holder.id != archived.id


def _if_live(tx: Tx, memory: Memory | None, reading: ClockReading, runtime: VaultRuntime) -> Memory | None:
    if memory is None:
        return None
    settled = changes.apply_due_steps(tx, memory, reading, runtime.retention)
    return settled if settled.state in LIVE else None


def _says_the_same(memory: Memory, draft: AdmittedMemory, mark: str) -> bool:
    same_time = is_same_time(memory, draft.valid_from, draft.valid_to)
    return same_time and memory.kind == draft.kind and fingerprint(memory.content) == mark


def _renew(
    change: changes.Change, known_one: Memory, draft: AdmittedMemory, expires_at: datetime | None, runtime: VaultRuntime
) -> Memory:
    """Renew a memory that was said again: reset its deadlines and keep the greater importance."""
    renewed = replace(
        known_one,
        key=known_one.key or draft.key,
        importance=max(known_one.importance, draft.importance),
        expires_at=later_deadline(known_one.expires_at, expires_at),
        updated_at=change.at,
    )
    active = enter(renewed, State.ACTIVE, change.at, runtime.retention)
    # The stored text stays: the draft's secrets are not needed, unless that text refers to them too.
    queue_secret_deletion(change.tx, draft.content)
    return changes.update(change, known_one, active, EventType.DEDUPLICATED)


def _replace_content(
    change: changes.Change,
    holder: Memory,
    draft: AdmittedMemory,
    expires_at: datetime | None,
    trust: Trust,
    runtime: VaultRuntime,
) -> Memory:
    """Replace the content under a key; the previous content is stored as a version."""
    edited = replace(
        holder,
        content=draft.content,
        kind=draft.kind,
        importance=draft.importance,
        trust=trust,
        message_id=draft.message_id,
        expires_at=expires_at,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        author=runtime.actor,
        version=holder.version + 1,
        updated_at=change.at,
    )
    active = enter(edited, State.ACTIVE, change.at, runtime.retention)
    return changes.update(change, holder, active, EventType.EDITED, content=draft.content)


def _new_memory(
    id: str,
    draft: AdmittedMemory,
    expires_at: datetime | None,
    trust: Trust,
    change: changes.Change,
    times: Mapping[str, Any],
) -> Memory:
    return Memory(
        id=id,
        content=draft.content,
        key=draft.key,
        kind=draft.kind,
        importance=draft.importance,
        trust=trust,
        author=change.actor,
        agent=draft.agent,
        message_id=draft.message_id,
        project=draft.project,
        created_at=change.at,
        updated_at=change.at,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        expires_at=expires_at,
        **times,
    )


def _least_trust(tx: Tx, draft: AdmittedMemory) -> Trust:
    """Return the lower trust of the caller and of the message it came from."""
    if draft.message_id is None:
        return draft.trust
    message = messages.find(tx, draft.message_id)
    if message is None:
        raise NotFound(f"there is no message {draft.message_id!r} in this vault")
    session = sessions.find(tx, message.session_id)
    brought_in = Trust.IMPORTED if session and session.imported else Trust.OWNER
    return least_trusted(draft.trust, message.trust, brought_in)
