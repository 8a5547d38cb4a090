"""Hit: one result of recall, with its score, its source and the reasons for its rank; and the chunk it was cut from."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust


@dataclass(frozen=True, slots=True)
class Chunk:
    """The characters from `start` to `end` of one text."""

    text: str
    start: int
    end: int


class SourceKind(StrEnum):
    """The kind of row that a chunk was cut from."""

    MEMORIES = "memories"
    SESSIONS = "sessions"
    NOTES = "notes"


#: A source as callers write it: the member, or its value.
SourceName: TypeAlias = SourceKind | Literal["memories", "sessions", "notes"]


class SearchMode(StrEnum):
    """How an answer was found, from the best way to the last resort."""

    HYBRID = "hybrid"
    TEXT = "text"
    SUBSTRING = "substring"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The exact place of a text: its row, and the first and last character."""

    kind: SourceKind
    #: The memory, if the text is one.
    memory_id: str | None = None
    #: The session and message that a memory came from, or that contain the text.
    session_id: str | None = None
    message_id: str | None = None
    #: The message's position in its session.
    position: int | None = None
    #: The file of a note, and its lines, counted from 1.
    path: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    start: int
    end: int

    def __str__(self) -> str:
        """Return a short citation, such as `msg_01j… [0:24]`, or `/home/ada/notes/tea.md:3-7`."""
        if self.path is not None:
            return f"{self.path}:{self.first_line}-{self.last_line}"
        return f"{self.memory_id or self.message_id} [{self.start}:{self.end}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Why a hit has its rank: its rank and score in each arm, and what was added."""

    rung: SearchMode
    #: Rank in the keyword search, from 1, and the BM25 score.
    text_rank: int | None = None
    text_score: float | None = None
    #: Rank in the vector search, from 1, and the cosine.
    vector_rank: int | None = None
    vector_score: float | None = None
    #: The fused score of both arms and all further reasons, in standard deviations of the pool.
    fused: float | None = None
    #: The terms that were searched for.
    terms: tuple[str, ...] = ()
    #: What each other reason added to the score, by name; only non-zero ones.
    added: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """The text just before or after a hit, and who said it; of a long text, the nearest part."""

    message_id: str
    position: int
    author: str
    #: The trust of the message itself, wherever its conversation came from.
    trust: Trust
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One chunk of text that matches a query."""

    text: str
    #: The chance that the hit is relevant where the result is calibrated; else comparable only within one result.
    score: float
    source: Source
    trust: Trust
    #: Who said or wrote it.
    author: str
    created_at: datetime
    reasons: Reasons
    #: For a message: the messages beside it, if the filters allow them.
    before: Neighbour | None = None
    after: Neighbour | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEvidence:
    """The evidence that a vault answers a question, in measures that mean the same for every question."""

    #: BM25 of the best chunk, as a share of the most that a chunk could reach.
    coverage: float
    #: The share of the question's words that no chunk has, counted by their inverse document frequency.
    missing: float
    #: The number of words that were sought.
    words: int
    #: The highest fused score, in standard deviations of its pool.
    fused: float
    #: The number of chunks in the index: the best of many is better by chance.
    chunks: int = 0
    #: The share of turns of a conversation among the best.
    turns: float = 0.0
    #: The highest cosine with the question, and mean and deviation of the cosines of all chunks; 0 without vectors.
    cosine: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedMatches:
    """The archived memories that match a question, which recall does not serve."""

    count: int = 0
    #: Whether there are older archived memories, which were not compared with the question.
    cut: bool = False
    #: The newest of them, at most ten, for `memories.move(id, "active")`.
    ids: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The count as a clause, such as `2 archived memories match`."""
        least = "at least " if self.cut else ""
        return f"{least}{self.count} archived " + ("memory matches" if self.count == 1 else "memories match")


class RecallResult(list[Hit]):
    """The hits of one recall, best first, with the search mode and, if it was degraded, the reason."""

    def __init__(
        self,
        hits: Iterable[Hit],
        rung: SearchMode,
        degraded: str | None = None,
        *,
        held_back: int = 0,
        calibrated: bool = False,
        evidence: AnswerEvidence | None = None,
        nearest: Hit | None = None,
        archived: ArchivedMatches | None = None,
    ) -> None:
        super().__init__(hits)
        self.rung = rung
        #: None when nothing was missing; else one sentence, such as `the embedder did not answer in time`.
        self.degraded = degraded
        #: How many better hits are hidden because tools or strangers wrote them.
        self.held_back = held_back
        #: Whether the scores are measured chances; False for an embedder or a reranker that was never measured.
        self.calibrated = calibrated
        #: What the chances were computed from; None where no candidate was found.
        self.evidence = evidence
        #: The best of the hits that were left out because their score is too low; None when none was.
        self.nearest = nearest
        #: The archived memories that match; none if the caller may not list them.
        self.archived = archived or ArchivedMatches()
        #: Whether a replica answered: it may lack the last writes of other processes, and none of this one's.
        self.replica = False

    def with_hits(self, hits: Iterable[Hit], degraded: str | None = None) -> "RecallResult":
        """Return a result with other hits, or with a reason why it is degraded, and all else the same."""
        made = RecallResult(
            hits,
            self.rung,
            self.degraded or degraded,
            held_back=self.held_back,
            calibrated=self.calibrated,
            evidence=self.evidence,
            nearest=self.nearest,
            archived=self.archived,
        )
        made.replica = self.replica
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHealth:
    """The result of an index check."""

    #: Active memories, messages and notes that are missing in the index.
    missing: int
    #: Chunks whose memory, message or note is gone or no longer active.
    stray: int
    #: Rows that differ from what was written, in an unencrypted vault; in an encrypted one the cipher detects them.
    changed: int = 0

    @property
    def sound(self) -> bool:
        """Whether rows and index agree."""
        return self.missing == 0 and self.stray == 0 and self.changed == 0

    @property
    def words(self) -> str:
        """The findings as a sentence."""
        index = f"{self.missing} missing from the index, {self.stray} stray in it" if self.missing or self.stray else ""
        rows = f"{self.changed} rows differ from what was written" if self.changed else ""
        return "; ".join(filter(None, (index, rows))) or "sound"
