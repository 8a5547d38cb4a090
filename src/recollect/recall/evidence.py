"""What is known of the candidates of a question: who said them, when, beside what, and whether they may be served."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recollect.recall.filters import FILTERED, ROWS, TRUST
from recollect.storage.port import Params, Tx

_EVIDENCE = f"""
    SELECT chunks.number, chunks.source, chunks.source_number, chunks.told, chunks.own, chunks.echo,
           coalesce(memories.importance, 0.5), {TRUST},
           coalesce(memories.created_at, messages.created_at, notes.mtime),
           messages.speaker, coalesce(memories.author, messages.speaker, messages.role, notes.path)
      FROM json_each(:numbers) AS wanted
      {ROWS.format(numbers="wanted.value")}
     WHERE {FILTERED}
"""  # noqa: S608  (constants of these files)

# Of turns, what is asked for stands in the same row; without a filter, a turn that is there may be served.
_TURNS = """
    SELECT chunks.number, chunks.source, chunks.source_number, chunks.told, chunks.own, chunks.echo,
           0.5, chunks.trust, chunks.created_at, chunks.speaker, coalesce(chunks.speaker, chunks.role)
      FROM json_each(:numbers) AS wanted CROSS JOIN chunks ON chunks.number = wanted.value
     WHERE chunks.source = 'sessions' AND chunks.trust IS NOT NULL
"""

# The turn before and the turn after, where somebody else speaks. CROSS fixes the order: from the few that are wanted.
_NEIGHBOURS = """
    SELECT chunks.number, beside.number
      FROM json_each(:numbers) AS wanted
     CROSS JOIN chunks ON chunks.number = wanted.value AND chunks.source = 'sessions'
     CROSS JOIN messages ON messages.number = chunks.source_number
     CROSS JOIN messages AS other ON other.session_id = messages.session_id
           AND other.position IN (messages.position - 1, messages.position + 1)
     CROSS JOIN chunks AS beside ON beside.source = 'sessions' AND beside.source_number = other.number
           AND coalesce(beside.speaker, beside.role) <> coalesce(chunks.speaker, chunks.role)
"""
_ALLOWED = f"SELECT chunks.number FROM chunks AS every {ROWS.format(numbers='every.number')} WHERE {FILTERED}"  # noqa: S608
# Said in a time: by the two indexes on when rows were made, and no more than can be looked through.
_SAID_IN = """
    SELECT chunks.number FROM (
            SELECT 'sessions' AS source, number FROM messages WHERE created_at >= :from AND created_at < :to
             UNION ALL
            SELECT 'memories', number FROM memories WHERE created_at >= :from AND created_at < :to
             LIMIT :limit) AS row
     CROSS JOIN chunks ON chunks.source = row.source AND chunks.source_number = row.number
"""
_STANDING = """
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


def load(tx: Tx, numbers: Sequence[int], params: Params, *, filtered: bool = True) -> dict[int, Evidence]:
    """The chunks among these that may be served under the filters, by number."""
    if filtered:
        return _under_filters(tx, numbers, params)
    turns = {row[0]: Evidence._make(row) for row in tx.rows(_TURNS, {"numbers": to_list(numbers)})}
    others = [number for number in numbers if number not in turns]
    return {**turns, **_under_filters(tx, others, params)} if others else turns


def _under_filters(tx: Tx, numbers: Iterable[int], params: Params) -> dict[int, Evidence]:
    return {row[0]: Evidence._make(row) for row in tx.rows(_EVIDENCE, {**params, "numbers": to_list(numbers)})}


def neighbours(tx: Tx, numbers: Iterable[int]) -> dict[int, list[int]]:
    """For each turn, the adjacent turns by other speakers."""
    found: dict[int, list[int]] = {}
    for number, beside in tx.rows(_NEIGHBOURS, {"numbers": to_list(numbers)}):
        found.setdefault(number, []).append(beside)
    return found


def allowed(tx: Tx, params: Params) -> set[int]:
    """Every chunk that the filters leave."""
    return {row[0] for row in tx.rows(_ALLOWED, params)}


def said_in(tx: Tx, start: int, end: int, most: int) -> list[int]:
    """Chunks of what was said or remembered in a time, in microseconds."""
    return [row[0] for row in tx.rows(_SAID_IN, {"from": start, "to": end, "limit": most})]


def standing(tx: Tx, numbers: Iterable[int]) -> set[int]:
    """Those of the chunks that are still there."""
    return {row[0] for row in tx.rows(_STANDING, {"numbers": to_list(numbers)})}


def is_speaker(tx: Tx, name: str) -> bool:
    """Whether somebody of that name has spoken in this vault."""
    return bool(tx.rows(_SPEAKER, {"name": name}))


def to_list(numbers: Iterable[int]) -> str:
    """Numbers as one parameter of a statement."""
    return "[" + ",".join(map(str, numbers)) + "]"
