"""Writes a finding to the memories it adds, updates, supersedes, merges or forgets."""

from dataclasses import replace
from typing import NamedTuple

from recollectum.domain.event import EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.proposal import Act, Finding
from recollectum.domain.trust import Trust, least_trusted
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import enter
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import citations, memories
from recollectum.storage.tables.learning.runs import Effect
from recollectum.text.terms.similarity import fingerprint
from recollectum.vault.files.projects import project_of_spans
from recollectum.vault.intake.admitted import AdmittedFinding
from recollectum.vault.intake.trust import caller_trust, check_shared_trust
from recollectum.vault.memories import changes
from recollectum.vault.memories.changes import apply_quarantine
from recollectum.vault.memories.saving import save_draft
from recollectum.vault.runtime import VaultRuntime


class ChangeContext(NamedTuple):
    """One open transaction and its actor."""

    tx: Tx
    reading: ClockReading
    runtime: VaultRuntime

    @property
    def change(self) -> changes.Change:
        """Return the same as the `Change` of a memory."""
        return changes.Change(self.tx, self.runtime.actor, self.reading.now)


class WrittenFinding(NamedTuple):
    """The memory written for a finding, and the effect on it; None when a known memory was renewed."""

    memory: Memory
    effect: Effect | None


def find_changeable(desk: ChangeContext, memory_id: str) -> Memory | None:
    """Return the memory as a change may start from it; None when it can no longer be changed."""
    found = memories.find(desk.tx, memory_id)
    if found is None:
        return None
    settled = changes.apply_due_steps(desk.tx, found, desk.reading, desk.runtime.retention)
    return settled if settled.state is State.ACTIVE and not settled.superseded_by else None


def write_finding(
    desk: ChangeContext,
    admitted: AdmittedFinding,
    targets: list[Memory],
    *,
    agent: str | None = None,
    run_id: str | None = None,
) -> WrittenFinding:
    """Write a finding to the memories that it changes, with its citations."""
    match admitted.finding.act:
        case Act.ADD:
            written = _add(desk, admitted, agent)
        case Act.UPDATE:
            written = _update(desk, admitted, targets[0])
        case Act.SUPERSEDE:
            written = _supersede(desk, admitted, targets[0], agent)
        case Act.MERGE:
            written = _merge(desk, admitted, targets)
        case Act.FORGET:
            return _forget(desk, targets[0])
    citations.add(desk.tx, written.memory.id, admitted.finding.spans, run_id)
    return written


def _add(desk: ChangeContext, admitted: AdmittedFinding, agent: str | None) -> WrittenFinding:
    finding = admitted.finding
    draft = admitted.to_memory(
        # An approved finding has the person's trust; any other has that of its message.
        message_id=finding.spans[0].message_id if finding.certain and finding.spans else None,
        agent=agent,
        project=project_of_spans(desk.tx, finding.spans),
        trust=caller_trust(desk.runtime.gate),
    )
    before = {one.id for one in memories.alike(desk.tx, fingerprint(draft.content), finding.kind, draft.project)}
    memory = save_draft(desk.tx, draft, desk.reading, desk.runtime).memory
    if memory.id in before:
        return WrittenFinding(memory, None)
    act = Act.ADD if memory.version == 1 else Act.UPDATE
    return WrittenFinding(memory, Effect(act=act, memory_id=memory.id, version=memory.version))


def _update(
    desk: ChangeContext, admitted: AdmittedFinding, before: Memory, key: str | None = None, trust: Trust | None = None
) -> WrittenFinding:
    finding = admitted.finding
    after = replace(
        before,
        key=key or before.key,
        kind=finding.kind,
        importance=max(before.importance, finding.importance),
        author=desk.runtime.actor,
        trust=check_shared_trust(
            desk.runtime.gate.owner, trust or before.trust if desk.runtime.gate.own else Trust.UNKNOWN
        ),
        version=before.version + 1,
        updated_at=desk.reading.now,
    )
    updated = changes.update(desk.change, before, after, EventType.EDITED, content=admitted.content)
    return WrittenFinding(updated, Effect(act=Act.UPDATE, memory_id=after.id, version=after.version))


def _supersede(desk: ChangeContext, admitted: AdmittedFinding, old: Memory, agent: str | None) -> WrittenFinding:
    finding = admitted.finding
    now, rules = desk.reading.now, desk.runtime.retention
    if twin := _find_duplicate(desk, finding, old):
        # The replacement exists already, and must not be stored twice.
        changes.supersede(desk.change, old, twin.id, rules)
        return WrittenFinding(twin, Effect(act=Act.MERGE, memory_id=twin.id, version=twin.version, target_id=old.id))
    new_id = desk.runtime.ids("mem")
    changes.supersede(desk.change, old, new_id, rules)
    new = Memory(
        id=new_id,
        content=admitted.content,
        key=old.key,
        kind=finding.kind,
        importance=max(old.importance, finding.importance),
        author=desk.runtime.actor,
        trust=check_shared_trust(desk.runtime.gate.owner, caller_trust(desk.runtime.gate)),
        agent=agent or old.agent,
        project=old.project,
        message_id=finding.spans[0].message_id if finding.spans else None,
        created_at=now,
        updated_at=now,
        valid_from=now,
        supersedes=old.id,
    )
    added = changes.add(desk.change, enter(new, State.ACTIVE, now, rules), admitted.content)
    memory = apply_quarantine(desk.change, added, rules, agent=agent, message_id=new.message_id)
    effect = Effect(act=Act.SUPERSEDE, memory_id=memory.id, version=memory.version, target_id=old.id)
    return WrittenFinding(memory, effect)


def _find_duplicate(desk: ChangeContext, finding: Finding, old: Memory) -> Memory | None:
    """Return another memory with the content that would replace the old one."""
    alike = memories.alike(desk.tx, fingerprint(finding.content), finding.kind, old.project)
    found = (find_changeable(desk, one.id) for one in alike if one.id != old.id)
    return next((one for one in found if one), None)


def _merge(desk: ChangeContext, admitted: AdmittedFinding, targets: list[Memory]) -> WrittenFinding:
    first, *others = targets
    for other in others:
        changes.supersede(desk.change, other, first.id, desk.runtime.retention)
        citations.add(desk.tx, first.id, citations.of(desk.tx, other.id), None)
    # Only now: while the others were active, one of them held its key.
    key = first.key or next((other.key for other in others if other.key), None)
    # A merged text has the lowest trust of its parts.
    return _update(desk, admitted, first, key, least_trusted(*(one.trust for one in targets)))


def _forget(desk: ChangeContext, memory: Memory) -> WrittenFinding:
    gone = changes.move(desk.change, memory, State.SOFT_DELETED, desk.runtime.retention)
    return WrittenFinding(gone, Effect(act=Act.FORGET, memory_id=gone.id, version=gone.version))
