"""Stores the chunks of the previous and next turn by another speaker, denormalised into the chunks table."""

import json
from collections.abc import Iterable

from recollectum.storage.port import Tx
from recollectum.storage.row_lists import values_of

# INNER fixes the join order: start from the few chunks that are wanted.
_LOAD = """
    SELECT chunks.number, other.position < messages.position, beside.number
      FROM numbers(:numbers) AS wanted
     INNER JOIN chunks ON chunks.number = wanted.value AND chunks.source = 'sessions'
     INNER JOIN messages ON messages.number = chunks.source_number
     INNER JOIN messages AS other ON other.session_id = messages.session_id
           AND other.position IN (messages.position - 1, messages.position + 1)
     INNER JOIN chunks AS beside ON beside.source = 'sessions' AND beside.source_number = other.number
           AND coalesce(beside.speaker, beside.role) <> coalesce(chunks.speaker, chunks.role)
     ORDER BY beside.number
"""
_NAMES = ("number", "before_step", "before_pieces", "after_step", "after_pieces")
_STORE = """
    WITH beside (number, before_step, before_pieces, after_step, after_pieces) AS (VALUES {rows})
    UPDATE chunks SET before_step = beside.before_step, before_pieces = beside.before_pieces,
           after_step = beside.after_step, after_pieces = beside.after_pieces
      FROM beside WHERE chunks.number = beside.number AND chunks.source = 'sessions'
"""
# Only rows that said that nothing follows: any other successor of a turn is final.
_INVALIDATE = """
    UPDATE chunks SET after_step = NULL, after_pieces = NULL
     WHERE source = 'sessions' AND after_pieces = 0 AND source_number IN (
           SELECT earlier.number
             FROM numbers(:turns) AS added
            INNER JOIN messages ON messages.number = added.value
            INNER JOIN messages AS earlier ON earlier.session_id = messages.session_id
                  AND earlier.position = messages.position - 1)
"""


def load(tx: Tx, numbers: Iterable[int]) -> dict[int, tuple[list[int], list[int]]]:
    """Return the chunks before and after each chunk, each ascending. Chunks outside a conversation are left out."""
    found: dict[int, tuple[list[int], list[int]]] = {}
    for number, earlier, beside in tx.rows(_LOAD, {"numbers": json.dumps(list(numbers))}):
        before, after = found.setdefault(number, ([], []))
        (before if earlier else after).append(beside)
    return found


def store(tx: Tx, numbers: Iterable[int]) -> None:
    """Store the neighbours of these chunks, and these chunks as neighbours of others."""
    wanted = set(numbers)
    if not wanted:
        return
    beside = load(tx, wanted)
    touched = {number for pair in beside.values() for side in pair for number in side} - wanted
    if touched:
        beside |= load(tx, touched)
    rows: list[tuple[int, ...]] = []
    for number in sorted(wanted | touched):
        before, after = beside.get(number, ([], []))
        if _is_contiguous(before) and _is_contiguous(after):
            steps = number - before[-1] if before else 0, after[0] - number if after else 0
            rows.append((number, steps[0], len(before), steps[1], len(after)))
    for listed, params in values_of(_NAMES, rows):
        tx.run(_STORE.format(rows=listed), params)


def invalidate(tx: Tx, turns: Iterable[int]) -> None:
    """Mark the turns before these, which were the last of their conversations, to be looked up again."""
    tx.run(_INVALIDATE, {"turns": json.dumps(list(turns))})


def _is_contiguous(numbers: list[int]) -> bool:
    """Return whether chunk numbers are consecutive, as those of one turn are; others are looked up each time."""
    return not numbers or numbers[-1] - numbers[0] + 1 == len(numbers)
