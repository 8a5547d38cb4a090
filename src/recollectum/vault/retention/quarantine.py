"""Takes everything of one source out of recall and contexts, and releases it again."""

from collections.abc import Callable
from dataclasses import replace

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, InvalidInput, NotFound, StepRefused
from recollectum.domain.hit import SourceKind
from recollectum.domain.memory import State
from recollectum.domain.page import Page, cut_page
from recollectum.domain.records import dataclass
from recollectum.domain.session import SessionKey
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.recall.index.chunk_index import index_message
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import imports, memories, messages
from recollectum.storage.tables.erasure import erased_lineage as lineage
from recollectum.storage.tables.index import chunks
from recollectum.storage.tables.trail import quarantines
from recollectum.storage.tables.trail.quarantines import Quarantine
from recollectum.vault.gate import operation
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.intake.intake import Intake
from recollectum.vault.memories import changes
from recollectum.vault.memories.changes import QUARANTINE_REASON
from recollectum.vault.retention.trash import UnrestoredMemory, restore_memory
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

SOURCE_KINDS = "session:ID, agent:NAME, tool:NAME, import:ID, author:NAME or imported"


@dataclass(frozen=True, slots=True)
class SourceRows:
    """The rows of one source, by id."""

    messages: frozenset[str]
    memories: frozenset[str]


def find_source_rows(tx: Tx, source: str) -> SourceRows:
    """Return all rows of a source, with their copies in forks and the memories that cite them."""
    kind, _, name = source.partition(":")
    if kind not in _FINDERS or bool(name) is (kind == "imported"):
        raise InvalidInput(f"{source!r} is not a source; give {SOURCE_KINDS}")
    messages, memories = _FINDERS[kind](tx, name)
    messages |= lineage.copies_of(tx, messages)
    memories |= lineage.partly_from(tx, messages)
    return SourceRows(frozenset(messages), frozenset(quarantines.standing(tx, memories)))


def _of_session(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    if not lineage.known(tx, "sessions", [name]):
        raise NotFound(f"there is no session {name!r} in this vault")
    return lineage.messages_of(tx, [name]), set()


def _of_agent(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    held = [id_ for id_, key in quarantines.keys(tx) if SessionKey.parse(key).agent == name]
    return lineage.messages_of(tx, held), quarantines.by_agent(tx, name)


def _of_tool(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    return quarantines.by_tool(tx, name), set()


def _of_import(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    found = imports.messages_of(tx, name)
    if found is None:
        raise NotFound(f"there is no import {name!r} in this vault; see: recollectum sessions imports")
    return found, set()


def _of_author(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    return set(), quarantines.by_author(tx, name)


def _of_imported(tx: Tx, _: str) -> tuple[set[str], set[str]]:
    return lineage.messages_of(tx, lineage.imported(tx)), set()


_FINDERS: dict[str, Callable[[Tx, str], tuple[set[str], set[str]]]] = {
    "session": _of_session,
    "agent": _of_agent,
    "tool": _of_tool,
    "import": _of_import,
    "author": _of_author,
    "imported": _of_imported,
}


@dataclass(frozen=True, slots=True)
class Released:
    """What was released, and the memories that could not be."""

    quarantine: Quarantine
    messages: int
    memories: int
    left: tuple[UnrestoredMemory, ...] = ()


class Quarantines(VaultService):
    """The quarantines of one vault."""

    @operation(Action.QUARANTINE_READ, Scope.USER)
    def preview(self, source: str) -> SourceRows:
        """Return what came from a source: the ids of its messages, and of the memories made from them."""
        return self._runtime.read(lambda tx, _: find_source_rows(tx, source))

    @operation(Action.QUARANTINE_WRITE, Scope.USER, reads=True, also=(Action.MEMORY_WRITE,))
    def add(self, source: str) -> Quarantine:
        """Quarantine a source: hide everything it wrote and will write, until `release`.

        No recall, no context and no review shows it.
        """
        with Intake(self._runtime) as intake:
            named = intake.name(source, "source of a quarantine")
            return self._runtime.write(
                lambda tx, reading: quarantine_source(tx, reading, self._runtime, named, went=State.ARCHIVED)
            )

    @operation(Action.QUARANTINE_READ, Scope.USER)
    def list(self, *, cursor: str | None = None, limit: int = 50) -> Page[Quarantine]:
        """Return the newest quarantines, including released ones."""
        size = check_limit(limit, MAX_PAGE)
        found = self._runtime.read(lambda tx, _: quarantines.page(tx, before=cursor, limit=size + 1))
        return cut_page(found, size, lambda one: one.id)

    @operation(Action.QUARANTINE_WRITE, Scope.USER, reads=True, also=(Action.MEMORY_WRITE,))
    def release(self, quarantine_id: str) -> Released:
        """Release a quarantine; memories that somebody changed or deleted since stay as they are."""
        done = self._runtime.write(lambda tx, reading: _release(tx, reading, self._runtime, quarantine_id))
        self._runtime.session_cache.clear()
        return done


def quarantine_source(tx: Tx, reading: ClockReading, runtime: VaultRuntime, source: str, *, went: State) -> Quarantine:
    """Remove the messages of a source from the index, and archive or delete its memories."""
    found = find_source_rows(tx, source)
    change = changes.Change(tx, runtime.actor, reading.now)
    moved: list[str] = []
    for memory_id in sorted(found.memories):
        stored = memories.find(tx, memory_id)
        settled = changes.apply_due_steps(tx, stored, reading, runtime.retention) if stored else None
        if settled and went is not settled.state and settled.state in (State.ACTIVE, State.ARCHIVED):
            changes.move(change, settled, went, runtime.retention, QUARANTINE_REASON)
            moved.append(memory_id)
    aside = quarantines.numbers(tx)
    fresh = [one for one in (messages.find(tx, item) for item in sorted(found.messages)) if one]
    for message in fresh:
        number = messages.number_of(tx, message.id)
        if number is not None and number not in aside:
            chunks.remove(tx, SourceKind.SESSIONS, number)
    made = Quarantine(id=runtime.ids("qua"), source=source, went=went, by=runtime.actor, at=reading.now)
    quarantines.add(tx, made, (one.id for one in fresh), moved)
    return quarantines.find(tx, made.id) or made


def _release(tx: Tx, reading: ClockReading, runtime: VaultRuntime, quarantine_id: str) -> Released:
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
    left: list[UnrestoredMemory] = []
    for memory_id in quarantines.memories_of(tx, quarantine_id):
        memory = memories.find(tx, memory_id)
        if memory is None or memory.state is not held.went:
            left.append(UnrestoredMemory(memory_id, "it was changed since then"))
            continue
        try:
            restore_memory(tx, memory_id, reading, runtime)
            back += 1
        except (Conflict, StepRefused) as error:
            left.append(UnrestoredMemory(memory_id, str(error)))
    return Released(replace(held, released_at=reading.now), len(freed), back, tuple(left))
