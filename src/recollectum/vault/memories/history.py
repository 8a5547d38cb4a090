"""Shows what is known about memories: their versions and events, the messages they cite, and the totals of a vault."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollectum.domain.event import Event
from recollectum.domain.memory import Citation, Memory, State, Version
from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import citations, messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts of a vault's rows, without content."""

    #: Rows by their stored state; steps that are due but not swept are not counted.
    memories: Mapping[State, int]
    sessions: int
    messages: int


def citations_of(tx: Tx, memory: Memory) -> list[Citation]:
    """Return the cited texts, and the message it was saved from when none of them is in it."""
    found = citations.places(tx, memory.id)
    if memory.message_id is None or any(one.message_id == memory.message_id for one in found):
        return found
    said = messages.find(tx, memory.message_id)
    if said is None:
        # Its conversation was deleted; the memory stays.
        return found
    whole = Citation(
        session_id=said.session_id,
        message_id=said.id,
        position=said.position,
        start=0,
        end=len(said.text),
        exact=False,
    )
    return sorted([*found, whole], key=lambda one: (one.session_id, one.position, one.start, one.end))


@dataclass(frozen=True, slots=True)
class History:
    """The history of one memory."""

    #: Oldest first; the last one is current.
    versions: tuple[Version, ...]
    events: tuple[Event, ...]

    @classmethod
    def of(cls, memory: Memory, before: Sequence[Version], events: Sequence[Event]) -> "History":
        """Return the stored versions and the current one."""
        began = before[-1].replaced_at if before else memory.created_at
        now = Version(
            memory_id=memory.id,
            version=memory.version,
            content=memory.content,
            key=memory.key,
            kind=memory.kind,
            importance=memory.importance,
            valid_from=memory.valid_from,
            valid_to=memory.valid_to,
            recorded_at=began or memory.created_at,
            replaced_at=None,
            author=memory.author,
        )
        return cls((*before, now), tuple(events))

    @staticmethod
    def as_it_read(memory: Memory, version: Version | None, state: State | None) -> Memory:
        """Return the memory in the state and wording of an earlier time."""
        then = replace(memory, state=state or memory.state)
        if version is None:
            return then
        return replace(
            then,
            content=version.content,
            key=version.key,
            kind=version.kind,
            importance=version.importance,
            valid_from=version.valid_from,
            valid_to=version.valid_to,
            version=version.version,
            updated_at=version.recorded_at,
            author=version.author,
        )
