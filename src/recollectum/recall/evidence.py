"""Loads what ranking needs to know about candidate chunks: speaker, time, neighbours and trust."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recollectum.recall.filters import FILTERED, ROWS, TRUST
from recollectum.storage.port import Params, Tx
from recollectum.storage.tables.index import chunk_neighbours

_EVIDENCE = f"""
    SELECT chunks.number, chunks.source, chunks.source_number, chunks.told, chunks.own, chunks.echo,
           coalesce(memories.importance, 0.5), {TRUST},
           coalesce(memories.created_at, messages.created_at, notes.mtime),
           messages.speaker, coalesce(memories.author, messages.speaker, messages.role, notes.path),
           chunks.before_step, chunks.before_pieces, chunks.after_step, chunks.after_pieces
      FROM json_each(:numbers) AS wanted
      {ROWS.format(numbers="wanted.value")}
     WHERE {FILTERED}
"""  # noqa: S608  (constants of these files)

# Of turns, what is asked for stands in the same row; without a filter, a turn that is there may be served.
_TURNS = """
    SELECT chunks.number, chunks.source, chunks.source_number, chunks.told, chunks.own, chunks.echo,
           0.5, chunks.trust, chunks.created_at, chunks.speaker, coalesce(chunks.speaker, chunks.role),
           chunks.before_step, chunks.before_pieces, chunks.after_step, chunks.after_pieces
      FROM json_each(:numbers) AS wanted CROSS JOIN chunks ON chunks.number = wanted.value
     WHERE chunks.source = 'sessions' AND chunks.trust IS NOT NULL
"""

# Said in a time: by the two indexes on when rows were made, and no more than can be looked through.
_SAID_IN = """
    SELECT chunks.number FROM (
            SELECT 'sessions' AS source, number FROM messages WHERE created_at >= :from AND created_at < :to
             UNION ALL
            SELECT 'memories', number FROM memories WHERE created_at >= :from AND created_at < :to
             LIMIT :limit) AS row
     CROSS JOIN chunks ON chunks.source = row.source AND chunks.source_number = row.number
"""
_EXISTING = """
    SELECT chunks.number FROM json_each(:numbers) AS wanted CROSS JOIN chunks ON chunks.number = wanted.value
"""
_SPEAKER = "SELECT 1 FROM messages WHERE speaker = :name COLLATE NOCASE LIMIT 1"


class Evidence(NamedTuple):
    """One chunk that may be served, as its row says it: there are hundreds for each question."""

    number: int
    source: str
    source_number: int
    told: int | None
    own: int | None
    echo: float | None
    importance: float
    trust: str
    created: int
    speaker: str | None
    author: str
    #: How far the nearest pieces of the turns beside it are, where somebody else speaks, and how many these turns have.
    #: None where nobody has looked yet.
    before_step: int | None
    before_pieces: int | None
    after_step: int | None
    after_pieces: int | None

    @property
    def beside(self) -> list[int] | None:
        """The pieces of the turns beside it; None where nobody has looked yet."""
        if self.before_step is None or self.before_pieces is None:
            return None
        if self.after_step is None or self.after_pieces is None:
            return None
        before, after = self.number - self.before_step, self.number + self.after_step
        return [*range(before - self.before_pieces + 1, before + 1), *range(after, after + self.after_pieces)]


def load_evidence(tx: Tx, numbers: Sequence[int], params: Params, *, filtered: bool = True) -> dict[int, Evidence]:
    """The chunks among these that may be served under the filters, by number."""
    if filtered:
        return _under_filters(tx, numbers, params)
    turns = {row[0]: Evidence._make(row) for row in tx.rows(_TURNS, {"numbers": to_json_list(numbers)})}
    others = [number for number in numbers if number not in turns]
    return {**turns, **_under_filters(tx, others, params)} if others else turns


def _under_filters(tx: Tx, numbers: Iterable[int], params: Params) -> dict[int, Evidence]:
    return {row[0]: Evidence._make(row) for row in tx.rows(_EVIDENCE, {**params, "numbers": to_json_list(numbers)})}


def load_neighbours(tx: Tx, found: Iterable[Evidence]) -> dict[int, list[int]]:
    """For each turn, the pieces of the adjacent turns by other speakers. Some may be gone since."""
    known: dict[int, list[int]] = {}
    unknown: list[int] = []
    for one in found:
        if one.source == "sessions":
            pieces = one.beside
            if pieces is None:
                unknown.append(one.number)
            elif pieces:
                known[one.number] = pieces
    if unknown:
        known |= {number: [*before, *after] for number, (before, after) in chunk_neighbours.load(tx, unknown).items()}
    return known


def chunks_in_time(tx: Tx, start: int, end: int, most: int) -> list[int]:
    """Chunks of what was said or remembered in a time, in microseconds."""
    return [row[0] for row in tx.rows(_SAID_IN, {"from": start, "to": end, "limit": most})]


def existing_chunks(tx: Tx, numbers: Iterable[int]) -> set[int]:
    """Those of the chunks that are still there."""
    return {row[0] for row in tx.rows(_EXISTING, {"numbers": to_json_list(numbers)})}


def is_speaker(tx: Tx, name: str) -> bool:
    """Whether somebody of that name has spoken in this vault."""
    return bool(tx.rows(_SPEAKER, {"name": name}))


def to_json_list(numbers: Iterable[int]) -> str:
    """Numbers as one parameter of a statement."""
    return "[" + ",".join(map(str, numbers)) + "]"
