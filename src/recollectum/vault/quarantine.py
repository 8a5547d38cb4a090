"""Quarantine: take everything of one source out of recall and contexts at once, and let it back or purge it."""

from dataclasses import dataclass, replace

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.errors import Conflict, NotFound, StepRefused
from recollectum.domain.hit import SourceKind
from recollectum.domain.memory import State
from recollectum.policy.clock import Reading
from recollectum.recall.indexing import index_message
from recollectum.storage.port import Tx
from recollectum.storage.tables import chunks, memories, messages, quarantines
from recollectum.storage.tables.quarantines import Quarantine
from recollectum.vault import changes
from recollectum.vault.draft import MAX_PAGE, check_limit
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation
from recollectum.vault.quarantine_later import BECAUSE
from recollectum.vault.quarantine_sources import Covered, covered
from recollectum.vault.trash import Left, bring_back

_READ = operation(Permission.READ, Scope.USER)
_CHANGE = operation(Permission.WRITE, Scope.USER, reads=True)


@dataclass(frozen=True, slots=True)
class Released:
    """What came back, and the memories that could not."""

    quarantine: Quarantine
    messages: int
    memories: int
    left: tuple[Left, ...] = ()


class Quarantines:
    """What is set aside in one vault."""

    def __init__(self, footing: Footing) -> None:
        self._footing = footing

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

    @_READ
    def preview(self, source: str) -> Covered:
        """What came from a source: the ids of the messages, and of the memories that were made of them."""
        return self._footing.read(lambda tx, _: covered(tx, source))

    @_CHANGE
    def put(self, source: str) -> Quarantine:
        """Set everything of a source aside, what is here and what it writes from now on, until `release`.

        No recall, no context and no review shows it.
        """
        return self._footing.write(
            lambda tx, reading: set_aside(tx, reading, self._footing, source, went=State.ARCHIVED)
        )

    @_READ
    def all(self, *, limit: int = 100) -> list[Quarantine]:
        """The newest quarantines, also those that are over."""
        size = check_limit(limit, MAX_PAGE)
        return self._footing.read(lambda tx, _: quarantines.page(tx, size))

    @_CHANGE
    def release(self, quarantine_id: str) -> Released:
        """Let back what a quarantine set aside; a memory that somebody changed or deleted since stays as it is."""
        done = self._footing.write(lambda tx, reading: _release(tx, reading, self._footing, quarantine_id))
        self._footing.session_lists.clear()
        return done


def set_aside(tx: Tx, reading: Reading, footing: Footing, source: str, *, went: State) -> Quarantine:
    """Take the messages of a source out of the index, and its memories to the archive or into the trash."""
    found = covered(tx, source)
    change = changes.Change(tx, footing.actor, reading.now)
    moved: list[str] = []
    for memory_id in sorted(found.memories):
        stored = memories.find(tx, memory_id)
        settled = changes.settle(tx, stored, reading, footing.retention) if stored else None
        if settled and went is not settled.state and settled.state in (State.ACTIVE, State.ARCHIVED):
            changes.move(change, settled, went, footing.retention, BECAUSE)
            moved.append(memory_id)
    aside = quarantines.numbers(tx)
    fresh = [one for one in (messages.find(tx, item) for item in sorted(found.messages)) if one]
    for message in fresh:
        number = messages.number_of(tx, message.id)
        if number is not None and number not in aside:
            chunks.remove(tx, SourceKind.SESSIONS, number)
    made = Quarantine(id=footing.ids("qua"), source=source, went=went, by=footing.actor, at=reading.now)
    quarantines.add(tx, made, (one.id for one in fresh), moved)
    return quarantines.find(tx, made.id) or made


def _release(tx: Tx, reading: Reading, footing: Footing, quarantine_id: str) -> Released:
    held = quarantines.find(tx, quarantine_id)
    if held is None:
        raise NotFound(f"there is no quarantine {quarantine_id!r} in this vault")
    if held.released_at is not None:
        raise StepRefused(f"quarantine {quarantine_id!r} was released already")
    freed = quarantines.messages_of(tx, quarantine_id)
    quarantines.release(tx, quarantine_id, reading.now)
    for message_id in freed:
        number, message = messages.number_of(tx, message_id), messages.find(tx, message_id)
        if number is not None and message is not None:
            index_message(tx, number, message)
    back = 0
    left: list[Left] = []
    for memory_id in quarantines.memories_of(tx, quarantine_id):
        memory = memories.find(tx, memory_id)
        if memory is None or memory.state is not held.went:
            left.append(Left(memory_id, "it was changed since"))
            continue
        try:
            bring_back(tx, memory_id, reading, footing)
            back += 1
        except (Conflict, StepRefused) as error:
            left.append(Left(memory_id, str(error)))
    return Released(replace(held, released_at=reading.now), len(freed), back, tuple(left))
