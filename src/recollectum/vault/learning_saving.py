"""How a learning is kept: a new memory, or the known one with a new day; edited, and forgotten into the trash."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date

from recollectum.domain.event import EventType
from recollectum.domain.ids import IdMaker
from recollectum.domain.learning import Learning
from recollectum.domain.memory import Kind, Memory, State
from recollectum.domain.owner import Owner
from recollectum.domain.trust import Trust, least
from recollectum.policy.clock import Reading
from recollectum.policy.learnings import is_same
from recollectum.policy.lifecycle import Retention, active_times, enter, state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables import learnings
from recollectum.vault import changes
from recollectum.vault.draft import check_content
from recollectum.vault.footing import Footing
from recollectum.vault.quarantine_later import held_back
from recollectum.vault.trusting import check_global


def today(reading: Reading) -> date:
    """The day it is, in UTC."""
    return reading.now.astimezone(UTC).date()


def load(tx: Tx, agent: str | None, reading: Reading) -> dict[str, Memory]:
    """The memories that are one agent's learnings now, newest first."""
    found = learnings.of_agent(tx, agent)
    return {memory.id: memory for memory in found if state_at(memory, reading) is State.ACTIVE}


def to_learning(tx: Tx, memory: Memory) -> Learning:
    """A memory as a learning, with its day."""
    written = learnings.find_day(tx, memory.id)
    holds = written is not None and written[1] == memory.updated_at
    day = written[0] if written and holds else memory.updated_at.astimezone(UTC).date()
    return Learning(id=memory.id, text=memory.content, category=memory.kind, day=day, agent=memory.agent)


def keeper(tx: Tx, reading: Reading, footing: Footing, agent: str | None) -> "Keeper":
    """The keeper of one agent's learnings, for one caller."""
    return Keeper(
        change=changes.Change(tx, footing.actor, reading.now),
        reading=reading,
        ids=footing.ids,
        retention=footing.retention,
        trust=Trust.OWNER if footing.gate.own else Trust.UNKNOWN,
        owner=footing.gate.owner,
        agent=agent,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Keeps the learnings of one agent, or those that all share, in one open transaction."""

    change: changes.Change
    reading: Reading
    ids: IdMaker
    retention: Retention
    #: How far the one who writes is believed.
    trust: Trust
    #: Whose vault it is.
    owner: Owner | None
    agent: str | None

    def say(self, text: str, category: Kind) -> Learning:
        """Keep a learning; one that is known already gets the day of today instead."""
        content = check_content(text)
        for memory in self._known(category):
            if is_same(memory.content, content):
                return self._renew(memory)
        return self.add(content, category, today(self.reading))

    def add(self, text: str, category: Kind, day: date) -> Learning:
        """Keep a learning as a new memory."""
        now = self.reading.now
        memory = Memory(
            id=self.ids("mem"),
            content=check_content(text),
            kind=category,
            trust=check_global(self.owner, self.trust),
            author=self.change.actor,
            agent=self.agent,
            created_at=now,
            updated_at=now,
            **active_times(now, self.retention.of(self.agent)),
        )
        return self._dated(self._held_back(changes.add(self.change, memory)), day)

    def edit(self, memory: Memory, text: str, category: Kind, day: date) -> Learning:
        """Say a learning otherwise; what it said before is kept as a version."""
        after = replace(
            memory,
            content=check_content(text),
            kind=category,
            author=self.change.actor,
            trust=check_global(self.owner, least(memory.trust, self.trust)),
            version=memory.version + 1,
            updated_at=self.reading.now,
        )
        edited = changes.put(self.change, memory, after, EventType.EDITED)
        return self._dated(self._held_back(edited), day)

    def redate(self, memory: Memory, day: date) -> Learning:
        """Give a learning another day."""
        return self._dated(memory, day)

    def forget(self, memory: Memory) -> None:
        """Move a learning to the trash."""
        changes.move(self.change, memory, State.SOFT_DELETED, self.retention)

    def _known(self, category: Kind) -> Iterator[Memory]:
        """The learnings of a category that can be renewed; one whose key may be taken stays in the archive."""
        for stored in self._of_category(learnings.of_agent(self.change.tx, self.agent), category):
            memory = changes.settle(self.change.tx, stored, self.reading, self.retention)
            if memory.state is State.ACTIVE or (memory.state is State.ARCHIVED and memory.key is None):
                yield memory

    def _of_category(self, found: Iterable[Memory], category: Kind) -> list[Memory]:
        return [one for one in found if one.kind is category and one.valid_to is None]

    def _renew(self, memory: Memory) -> Learning:
        after = enter(replace(memory, updated_at=self.reading.now), State.ACTIVE, self.reading.now, self.retention)
        return self._dated(changes.put(self.change, memory, after, EventType.DEDUPLICATED), today(self.reading))

    def _held_back(self, memory: Memory) -> Memory:
        return held_back(self.change, memory, self.retention, agent=self.agent)

    def _dated(self, memory: Memory, day: date) -> Learning:
        learnings.save_day(self.change.tx, memory.id, day, memory.updated_at)
        return Learning(id=memory.id, text=memory.content, category=memory.kind, day=day, agent=memory.agent)
