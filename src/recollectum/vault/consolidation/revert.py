"""Reverts a consolidation run: forgets what it added and restores what it changed."""

from dataclasses import replace

from recollectum.domain.event import EventType
from recollectum.domain.memory import Memory, State
from recollectum.domain.proposal import Act
from recollectum.domain.records import dataclass
from recollectum.policy.lifecycle import enter
from recollectum.storage.tables.content import memories, versions
from recollectum.storage.tables.learning import proposals, runs
from recollectum.storage.tables.learning.runs import ConsolidationRun, Effect
from recollectum.vault.intake.admitted import stored_text
from recollectum.vault.memories import changes
from recollectum.vault.review.writing import ChangeContext, find_changeable


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverted:
    """The result of reverting a run."""

    run: ConsolidationRun
    #: Effects that were undone.
    undone: int = 0
    #: Effects that were kept, because somebody changed the memory since.
    kept: int = 0
    #: Proposals that nobody had decided yet, and that were withdrawn.
    withdrawn: int = 0


def revert_run(desk: ChangeContext, run: ConsolidationRun) -> Reverted:
    """Undo the effects of a run, newest first; do nothing when it was reverted before."""
    if not runs.mark_reverted(desk.tx, run.id, desk.reading.now):
        return Reverted(run=run)
    done = [_revert_effect(desk, effect) for effect in reversed(runs.effects(desk.tx, run.id))]
    return Reverted(
        run=replace(run, reverted_at=desk.reading.now),
        undone=sum(done),
        kept=len(done) - sum(done),
        withdrawn=proposals.withdraw(desk.tx, run.id, desk.reading.now),
    )


def _revert_effect(desk: ChangeContext, effect: Effect) -> bool:
    if effect.act is Act.MERGE and effect.target_id:
        # The memory that replaced it existed before the run, and stays.
        return _unsupersede(desk, effect.target_id, effect.memory_id)
    memory = find_changeable(desk, effect.memory_id)
    if memory is None or memory.version != effect.version:
        return False
    if effect.act is Act.UPDATE:
        return _restore_version(desk, memory)
    changes.move(desk.change, memory, State.SOFT_DELETED, desk.runtime.retention)
    if effect.act is Act.SUPERSEDE and effect.target_id:
        _unsupersede(desk, effect.target_id, memory.id)
    return True


def _restore_version(desk: ChangeContext, memory: Memory) -> bool:
    earlier = versions.of(desk.tx, memory.id)
    if not earlier:
        return False
    last = earlier[-1]
    before = replace(
        memory,
        key=last.key,
        kind=last.kind,
        importance=last.importance,
        valid_from=last.valid_from,
        valid_to=last.valid_to,
        author=desk.runtime.actor,
        version=memory.version + 1,
        updated_at=desk.reading.now,
    )
    changes.update(desk.change, memory, before, EventType.EDITED, content=stored_text(last.content))
    return True


def _unsupersede(desk: ChangeContext, memory_id: str, ended_by: str) -> bool:
    """Make a superseded memory active again; return False when it no longer exists."""
    old = memories.find(desk.tx, memory_id)
    if old is None or old.superseded_by != ended_by or old.state is not State.ARCHIVED:
        return False
    earlier = versions.of(desk.tx, memory_id)
    again = replace(
        old,
        superseded_by=None,
        valid_to=earlier[-1].valid_to if earlier else None,
        version=old.version + 1,
        updated_at=desk.reading.now,
    )
    back = enter(again, State.ACTIVE, desk.reading.now, desk.runtime.retention)
    changes.update(desk.change, old, back, EventType.RESTORED, {"from": old.state})
    return True
