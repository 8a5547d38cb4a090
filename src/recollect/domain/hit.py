"""Hit: one result of recall, with its score and the place its words came from."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.trust import Trust


class SourceKind(StrEnum):
    """What sort of row a chunk was cut from."""

    MEMORIES = "memories"
    SESSIONS = "sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The exact place of a text: which row, and from which character to which."""

    kind: SourceKind
    #: The memory, when it is one.
    memory_id: str | None = None
    #: The session and message: the ones a memory came from, or the ones the text stands in.
    session_id: str | None = None
    message_id: str | None = None
    #: The message's place in its session.
    position: int | None = None
    start: int
    end: int

    def __str__(self) -> str:
        """A short citation, such as `msg_01j… [0:24]`."""
        return f"{self.memory_id or self.message_id} [{self.start}:{self.end}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One piece of text that answers a query."""

    text: str
    #: Higher is better; comparable within one result only.
    score: float
    source: Source
    trust: Trust
    #: Who said or wrote it.
    author: str
    created_at: datetime
