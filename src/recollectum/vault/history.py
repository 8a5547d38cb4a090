"""History: what a memory has said and what happened to it, and how it read at another time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollectum.domain.event import Event
from recollectum.domain.memory import Memory, State, Version


@dataclass(frozen=True, slots=True)
class History:
    """The life of one memory so far."""

    #: Oldest first; the last one stands now.
    versions: tuple[Version, ...]
    events: tuple[Event, ...]

    @classmethod
    def of(cls, memory: Memory, before: Sequence[Version], events: Sequence[Event]) -> "History":
        """The versions kept so far and the one that stands now."""
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
        """The memory in the state and wording of an earlier time."""
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
