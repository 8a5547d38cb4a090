"""The last rung: a key or a piece of a text exactly as it was typed, when no word of it is known."""

from recollectum.domain.hit import Hit, Reasons, Rung
from recollectum.recall.evidence import load
from recollectum.recall.filters import FILTERED, ROWS
from recollectum.recall.hits import details, to_hit
from recollectum.storage.port import Params, Tx

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


def find_substring(tx: Tx, query: str, params: Params, limit: int) -> list[Hit]:
    """The newest texts that hold the query as it stands."""
    piece = query.strip()
    if len(piece) < _SHORTEST:
        return []
    numbers = [row[0] for row in tx.rows(_FIND, {**params, "piece": piece, "limit": limit, "most": _MOST_ROWS})]
    known = load(tx, numbers, params)
    found = details(tx, known.values())
    return [
        to_hit(known[number], found[number], 1 / (place + 1), Reasons(rung=Rung.SUBSTRING))
        for place, number in enumerate(numbers)
    ]
