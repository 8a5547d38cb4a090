"""The last rung: a key or a piece of a text exactly as it was typed, when no word of it is known."""

from recollect.domain.hit import Hit, Reasons, Rung
from recollect.policy.clock import Reading
from recollect.recall.evidence import FILTERED, ROWS, Filters, load, texts
from recollect.storage.port import Tx

_SHORTEST = 2
#: Rows looked at, the newest first: the last resort must not read a whole life.
_MOST_ROWS = 20_000
_FIND = f"""
    SELECT chunks.number
      FROM (SELECT number FROM chunks ORDER BY number DESC LIMIT :most) AS every {ROWS.format(numbers="every.number")}
     WHERE {FILTERED}
       AND (instr(lower(coalesce(memories.content, messages.text, notes.text)), lower(:piece)) > 0
            OR instr(coalesce(memories.key, ''), lower(:piece)) > 0)
     ORDER BY chunks.number DESC LIMIT :limit
"""  # noqa: S608  (constants of this file)


def find_substring(tx: Tx, query: str, reading: Reading, filters: Filters, limit: int) -> list[Hit]:
    """The newest texts that hold the query as it stands."""
    piece = query.strip()
    if len(piece) < _SHORTEST:
        return []
    params = {**filters.params(reading), "piece": piece, "limit": limit, "most": _MOST_ROWS}
    numbers = [row[0] for row in tx.rows(_FIND, params)]
    known, words = load(tx, numbers, reading, filters), texts(tx, numbers)
    return [
        Hit(
            text=words[number][0],
            score=1 / (place + 1),
            source=known[number].source_of(words[number]),
            trust=known[number].trust,
            author=known[number].author,
            created_at=known[number].created_at,
            reasons=Reasons(rung=Rung.SUBSTRING),
        )
        for place, number in enumerate(numbers)
    ]
