"""Hit: one result of recall, with its score, its source and the reasons for its rank; and the chunk it was cut from."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.trust import Trust


@dataclass(frozen=True, slots=True)
class Chunk:
    """The characters from `start` to `end` of one text."""

    text: str
    start: int
    end: int


class SourceKind(StrEnum):
    """What sort of row a chunk was cut from."""

    MEMORIES = "memories"
    SESSIONS = "sessions"
    NOTES = "notes"


#: A source as callers write it: the member, or its word.
SourceName: TypeAlias = SourceKind | Literal["memories", "sessions", "notes"]


class SearchMode(StrEnum):
    """How an answer was found, from the best way to the last."""

    HYBRID = "hybrid"
    TEXT = "text"
    SUBSTRING = "substring"


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
    #: The file of a note, and its lines, counted from 1.
    path: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    start: int
    end: int

    def __str__(self) -> str:
        """A short citation, such as `msg_01j… [0:24]`, or `/home/ada/notes/tea.md:3-7`."""
        if self.path is not None:
            return f"{self.path}:{self.first_line}-{self.last_line}"
        return f"{self.memory_id or self.message_id} [{self.start}:{self.end}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Why a hit ranks where it does: its place and score in each arm, and what was added to them."""

    rung: SearchMode
    #: Place among the matches by words, from 1, and BM25.
    text_rank: int | None = None
    text_score: float | None = None
    #: Place among the nearest by meaning, from 1, and the cosine.
    vector_rank: int | None = None
    vector_score: float | None = None
    #: The terms that were looked for.
    terms: tuple[str, ...] = ()
    #: What each further reason added to the score, by name; only those that are not 0.
    added: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """What was said just before or after a hit, by whom; of a long text the part that is nearest to it."""

    message_id: str
    position: int
    author: str
    #: As the message itself has it, wherever its conversation came from.
    trust: Trust
    text: str


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
    reasons: Reasons
    #: Of a turn of a conversation: the turns beside it, as far as the filters leave them.
    before: Neighbour | None = None
    after: Neighbour | None = None


class RecallResult(list[Hit]):
    """The hits of one recall, best first, with the way they were found and, where it was not the best one, why."""

    def __init__(
        self, hits: Iterable[Hit], rung: SearchMode, degraded: str | None = None, *, held_back: int = 0
    ) -> None:
        super().__init__(hits)
        self.rung = rung
        #: None when nothing was missing; else one sentence, such as `the embedder did not answer in time`.
        self.degraded = degraded
        #: How many better hits are not shown because tools or strangers wrote them.
        self.held_back = held_back


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHealth:
    """What a check found."""

    #: Active memories, messages and notes that the index lacks.
    missing: int
    #: Pieces of the index whose memory, message or note is gone or no longer active.
    stray: int
    #: Rows that are not as they were written, in a vault that is not encrypted; the cipher sees to the others.
    changed: int = 0

    @property
    def sound(self) -> bool:
        """Whether everything agrees."""
        return self.missing == 0 and self.stray == 0 and self.changed == 0

    @property
    def words(self) -> str:
        """What was found, as one reads it."""
        index = f"{self.missing} missing from the index, {self.stray} stray in it" if self.missing or self.stray else ""
        rows = f"{self.changed} rows are not as they were written" if self.changed else ""
        return "; ".join(filter(None, (index, rows))) or "sound"
