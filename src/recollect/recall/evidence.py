"""What is known of the candidates of a question: who said them, when, beside what, and whether they may be served."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.hit import Source, SourceKind
from recollect.domain.memory import Kind
from recollect.domain.trust import Trust, least
from recollect.policy.clock import Reading
from recollect.storage.port import Row, Tx
from recollect.storage.times import micros, moment

# What may be served is decided here and in policy.lifecycle.state_at; a law holds the two together.
SERVED = """
       (memories.state = 'active' AND memories.superseded_by IS NULL
        AND (memories.expires_at IS NULL OR memories.expires_at > :now)
        AND (memories.archive_at IS NULL OR memories.archive_at > :policy_now)
        AND (memories.retention_expires_at IS NULL OR memories.retention_expires_at > :policy_now)
        AND (memories.valid_to IS NULL OR memories.valid_to > :now)
        AND (:kind IS NULL OR memories.kind = :kind)
        AND :session_id IS NULL AND :speaker IS NULL)
    OR (messages.id IS NOT NULL AND :kind IS NULL
        AND (:session_id IS NULL OR messages.session_id = :session_id)
        AND (:speaker IS NULL OR coalesce(messages.speaker, messages.role) = :speaker COLLATE NOCASE))
    OR (notes.number IS NOT NULL AND :kind IS NULL AND :session_id IS NULL AND :speaker IS NULL)
"""
ROWS = """
     CROSS JOIN chunks ON chunks.number = {numbers}
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN messages ON chunks.source = 'sessions' AND messages.number = chunks.source_number
      LEFT JOIN notes ON chunks.source = 'notes' AND notes.number = chunks.source_number
"""
FILTERED = f"""
     (:source IS NULL OR chunks.source = :source)
     AND (:since IS NULL OR coalesce(memories.created_at, messages.created_at, notes.mtime) >= :since)
     AND (:until IS NULL OR coalesce(memories.created_at, messages.created_at, notes.mtime) < :until)
     AND ({SERVED})
"""

_EVIDENCE = f"""
    SELECT chunks.number, chunks.source, chunks.source_number, chunks.start, chunks.stop,
           chunks.told, chunks.own, chunks.echo,
           memories.id, memories.importance, memories.trust, memories.author, memories.created_at, memories.message_id,
           messages.id, messages.session_id, messages.position, messages.trust, messages.created_at,
           coalesce(messages.speaker, messages.role), messages.speaker, sessions.imported,
           notes.folder, notes.path, notes.mtime, chunks.first_line, chunks.last_line
      FROM json_each(:numbers) AS wanted
      {ROWS.format(numbers="wanted.value")}
      LEFT JOIN sessions ON sessions.id = messages.session_id
     WHERE {FILTERED}
"""  # noqa: S608  (constants of this file)

# The turn before and the turn after, where somebody else speaks. CROSS fixes the order: from the few that are wanted.
_NEIGHBOURS = """
    SELECT chunks.number, beside.number
      FROM json_each(:numbers) AS wanted
     CROSS JOIN chunks ON chunks.number = wanted.value AND chunks.source = 'sessions'
     CROSS JOIN messages ON messages.number = chunks.source_number
     CROSS JOIN (SELECT -1 AS by UNION ALL SELECT 1) AS step
     CROSS JOIN messages AS other ON other.session_id = messages.session_id
           AND other.position = messages.position + step.by
           AND coalesce(other.speaker, other.role) <> coalesce(messages.speaker, messages.role)
     CROSS JOIN chunks AS beside ON beside.source = 'sessions' AND beside.source_number = other.number
"""
_ALLOWED = f"SELECT chunks.number FROM chunks AS every {ROWS.format(numbers='every.number')} WHERE {FILTERED}"  # noqa: S608
_TEXTS = """
    SELECT chunks.number,
           substr(coalesce(memories.content, messages.text, notes.text), chunks.start + 1, chunks.stop - chunks.start),
           source.id, source.session_id, source.position
      FROM json_each(:numbers) AS wanted
      JOIN chunks ON chunks.number = wanted.value
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN messages ON chunks.source = 'sessions' AND messages.number = chunks.source_number
      LEFT JOIN notes ON chunks.source = 'notes' AND notes.number = chunks.source_number
      LEFT JOIN messages AS source ON source.id = memories.message_id
"""
_STANDING = """
    SELECT chunks.number FROM json_each(:numbers) AS wanted CROSS JOIN chunks ON chunks.number = wanted.value
"""
_SPEAKER = "SELECT 1 FROM messages WHERE speaker = :name COLLATE NOCASE LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What to search in."""

    source: SourceKind | None = None
    session_id: str | None = None
    kind: Kind | None = None
    speaker: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def any(self) -> bool:
        """Whether anything is left out."""
        return any(
            value is not None
            for value in (self.source, self.session_id, self.kind, self.speaker, self.since, self.until)
        )

    def params(self, reading: Reading) -> dict[str, int | str | None]:
        """The filters as parameters of a statement."""
        return {
            "now": micros(reading.now),
            "policy_now": micros(reading.policy_now),
            "source": self.source,
            "session_id": self.session_id,
            "kind": self.kind,
            "speaker": self.speaker,
            "since": micros(self.since) if self.since else None,
            "until": micros(self.until) if self.until else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One chunk that may be served."""

    number: int
    source: SourceKind
    source_number: int
    start: int
    stop: int
    told: int | None
    own: bool
    echo: float
    memory_id: str | None
    message_id: str | None
    session_id: str | None
    position: int | None
    importance: float
    trust: Trust
    author: str
    speaker: str | None
    created_at: datetime
    #: Of a note: its file and lines.
    path: str | None = None
    first_line: int | None = None
    last_line: int | None = None

    def source_of(self, words: Row) -> Source:
        """The place of the chunk; `words` is its row of `texts`, which knows where a memory came from."""
        _, from_message, from_session, from_position = words
        return Source(
            kind=self.source,
            memory_id=self.memory_id,
            session_id=self.session_id or from_session,
            message_id=self.message_id or from_message,
            position=self.position or from_position,
            path=self.path,
            first_line=self.first_line,
            last_line=self.last_line,
            start=self.start,
            end=self.stop,
        )


def load(tx: Tx, numbers: Iterable[int], reading: Reading, filters: Filters) -> dict[int, Evidence]:
    """The chunks among these that may be served under the filters, by number."""
    rows = tx.rows(_EVIDENCE, {**filters.params(reading), "numbers": _list(numbers)})
    return {row[0]: _from_row(row) for row in rows}


def neighbours(tx: Tx, numbers: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """For each turn, the adjacent turns by other speakers."""
    found: dict[int, list[int]] = {}
    for number, beside in tx.rows(_NEIGHBOURS, {"numbers": _list(numbers)}):
        found.setdefault(number, []).append(beside)
    return {number: tuple(others) for number, others in found.items()}


def allowed(tx: Tx, reading: Reading, filters: Filters) -> set[int]:
    """Every chunk that the filters leave."""
    return {row[0] for row in tx.rows(_ALLOWED, filters.params(reading))}


def standing(tx: Tx, numbers: Iterable[int]) -> set[int]:
    """Those of the chunks that are still there."""
    return {row[0] for row in tx.rows(_STANDING, {"numbers": _list(numbers)})}


def texts(tx: Tx, numbers: Sequence[int]) -> dict[int, Row]:
    """The words of each chunk, and of a memory the message it came from."""
    return {row[0]: row[1:] for row in tx.rows(_TEXTS, {"numbers": _list(numbers)})}


def is_speaker(tx: Tx, name: str) -> bool:
    """Whether somebody of that name has spoken in this vault."""
    return bool(tx.rows(_SPEAKER, {"name": name}))


def _list(numbers: Iterable[int]) -> str:
    return "[" + ",".join(map(str, numbers)) + "]"


def _from_row(row: Row) -> Evidence:
    return _from_note(row) if row[22] is not None else _from_words(row)


def _from_note(row: Row) -> Evidence:
    return Evidence(
        number=row[0],
        source=SourceKind(row[1]),
        source_number=row[2],
        start=row[3],
        stop=row[4],
        told=row[5],
        own=False,
        echo=0.0,
        memory_id=None,
        message_id=None,
        session_id=None,
        position=None,
        importance=0.5,
        # The person named the folder, and what lies in it is the person's own.
        trust=Trust.OWNER,
        author=row[23],
        speaker=None,
        created_at=moment(row[24]),
        path=f"{row[22].rstrip('/')}/{row[23]}",
        first_line=row[25],
        last_line=row[26],
    )


def _from_words(row: Row) -> Evidence:
    memory = row[8] is not None
    trust = Trust(row[10] if memory else row[17])
    return Evidence(
        number=row[0],
        source=SourceKind(row[1]),
        source_number=row[2],
        start=row[3],
        stop=row[4],
        told=row[5],
        own=bool(row[6]),
        echo=row[7] or 0.0,
        memory_id=row[8],
        message_id=row[14],
        session_id=row[15],
        position=row[16],
        importance=row[9] if memory else 0.5,
        trust=least(trust, Trust.IMPORTED) if row[21] else trust,
        author=row[11] if memory else row[19],
        speaker=row[20],
        created_at=moment(row[12] if memory else row[18]),
    )
