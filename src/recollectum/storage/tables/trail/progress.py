"""Reads how far a vault is: the numbers of its last event and of its last chunk."""

from recollectum.storage.port import Tx

_FIND = """
    SELECT (SELECT coalesce(max(number), 0) FROM events),
           last_number('chunks')
"""


def find(tx: Tx) -> tuple[int, int]:
    """Return the number of the last event, and of the last chunk there ever was, deleted or not."""
    events, chunks = tx.rows(_FIND, {})[0]
    return events, chunks
