"""Stores a learning as a new memory, or renews, edits or forgets the known one."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date

from recollectum.domain.access.owner import Owner
from recollectum.domain.event import EventType
from recollectum.domain.ids import IdMaker
from recollectum.domain.learning import Learning
from recollectum.domain.memory import Kind, Memory, State
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust, least_trusted
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import Retention, active_times, enter, state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables.learning import learnings
from recollectum.vault.intake.admitted import AdmittedText
from recollectum.vault.intake.kept_secrets import queue_secret_deletion
from recollectum.vault.intake.trust import caller_trust, check_shared_trust
from recollectum.vault.learnings.merge import is_same_learning
from recollectum.vault.memories import changes
from recollectum.vault.memories.changes import apply_quarantine
from recollectum.vault.runtime import VaultRuntime


def today(reading: ClockReading) -> date:
    """Return the current day in UTC."""
    return reading.now.astimezone(UTC).date()


def load_learning_memories(tx: Tx, agent: str | None, reading: ClockReading) -> dict[str, Memory]:
    """Return the memories that are one agent's learnings now, newest first."""
    found = learnings.of_agent(tx, agent)
    return {memory.id: memory for memory in found if state_at(memory, reading) is State.ACTIVE}


def to_learning(tx: Tx, memory: Memory) -> Learning:
    """Return a memory as a learning, with its day."""
    written = learnings.find_day(tx, memory.id)
    holds = written is not None and written[1] == memory.updated_at
    day = written[0] if written and holds else memory.updated_at.astimezone(UTC).date()
    return Learning(id=memory.id, text=memory.content, category=memory.kind, day=day, agent=memory.agent)


def open_learning_writer(tx: Tx, reading: ClockReading, runtime: VaultRuntime, agent: str | None) -> "LearningWriter":
    """Return the writer of one agent's learnings, for one caller."""
    return LearningWriter(
        change=changes.Change(tx, runtime.actor, reading.now),
        reading=reading,
        ids=runtime.ids,
        retention=runtime.retention,
        trust=caller_trust(runtime.gate),
        owner=runtime.gate.owner,
        agent=agent,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningWriter:
    """Writes the learnings of one agent, or the shared ones, in one open transaction."""

    change: changes.Change
    reading: ClockReading
    ids: IdMaker
    retention: Retention
    #: The trust in the caller who writes.
    trust: Trust
    #: The owner of the vault.
    owner: Owner | None
    agent: str | None

    def say(self, text: AdmittedText, category: Kind) -> Learning:
        """Save a learning; a known one gets today's day instead."""
        for memory in self._known(category):
            if is_same_learning(memory.content, text):
                queue_secret_deletion(self.change.tx, text)
                return self._renew(memory)
        return self.add(text, category, today(self.reading))

    def add(self, text: AdmittedText, category: Kind, day: date) -> Learning:
        """Save a learning as a new memory."""
        now = self.reading.now
        memory = Memory(
            id=self.ids("mem"),
            content=text,
            kind=category,
            trust=check_shared_trust(self.owner, self.trust),
            author=self.change.actor,
            agent=self.agent,
            created_at=now,
            updated_at=now,
            **active_times(now, self.retention.of(self.agent)),
        )
        return self._dated(self._held_back(changes.add(self.change, memory, text)), day)

    def edit(self, memory: Memory, text: AdmittedText, category: Kind, day: date) -> Learning:
        """Change the text of a learning; the previous text is stored as a version."""
        after = replace(
            memory,
            kind=category,
            author=self.change.actor,
            trust=check_shared_trust(self.owner, least_trusted(memory.trust, self.trust)),
            version=memory.version + 1,
            updated_at=self.reading.now,
        )
        edited = changes.update(self.change, memory, after, EventType.EDITED, content=text)
        return self._dated(self._held_back(edited), day)

    def redate(self, memory: Memory, day: date) -> Learning:
        """Set the day of a learning."""
        return self._dated(memory, day)

    def forget(self, memory: Memory) -> None:
        """Move a learning to the trash."""
        changes.move(self.change, memory, State.SOFT_DELETED, self.retention)

    def _known(self, category: Kind) -> Iterator[Memory]:
        """Yield the learnings of a category that can be renewed; one whose key may be taken stays archived."""
        for stored in self._of_category(learnings.of_agent(self.change.tx, self.agent), category):
            memory = changes.apply_due_steps(self.change.tx, stored, self.reading, self.retention)
            if memory.state is State.ACTIVE or (memory.state is State.ARCHIVED and memory.key is None):
                yield memory

    def _of_category(self, found: Iterable[Memory], category: Kind) -> list[Memory]:
        return [one for one in found if one.kind is category and one.valid_to is None]

    def _renew(self, memory: Memory) -> Learning:
        after = enter(replace(memory, updated_at=self.reading.now), State.ACTIVE, self.reading.now, self.retention)
        return self._dated(changes.update(self.change, memory, after, EventType.DEDUPLICATED), today(self.reading))

    def _held_back(self, memory: Memory) -> Memory:
        return apply_quarantine(self.change, memory, self.retention, agent=self.agent)

    def _dated(self, memory: Memory, day: date) -> Learning:
        learnings.save_day(self.change.tx, memory.id, day, memory.updated_at)
        return Learning(id=memory.id, text=memory.content, category=memory.kind, day=day, agent=memory.agent)
