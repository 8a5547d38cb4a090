"""Reads the messages and memories in a range of row numbers that the index lacks and a search may find."""

from recollectum.storage.port import Tx

_MESSAGES = """
      FROM messages WHERE number BETWEEN :first AND :last AND text <> ''
       AND NOT EXISTS (SELECT 1 FROM chunks WHERE source = 'sessions' AND source_number = messages.number)
       AND id NOT IN (SELECT item FROM quarantined)
"""
_MEMORIES = """
      FROM memories WHERE number BETWEEN :first AND :last AND state = 'active'
       AND NOT EXISTS (SELECT 1 FROM chunks WHERE source = 'memories' AND source_number = memories.number)
"""
_MESSAGE_TEXTS = f"SELECT number, text {_MESSAGES} ORDER BY number LIMIT :limit"
_MEMORY_TEXTS = f"SELECT number, content, key {_MEMORIES} ORDER BY number LIMIT :limit"
_MESSAGE_COUNT = f"SELECT count(*) {_MESSAGES}"
_MEMORY_COUNT = f"SELECT count(*) {_MEMORIES}"


def messages(tx: Tx, first: int, last: int, *, limit: int) -> list[tuple[int, str]]:
    """Return the row number and text of the first messages that the index lacks."""
    if last < first:
        return []
    return [(row[0], row[1]) for row in tx.rows(_MESSAGE_TEXTS, {"first": first, "last": last, "limit": limit})]


def memories(tx: Tx, first: int, last: int, *, limit: int) -> list[tuple[int, str, str | None]]:
    """Return the row number, content and key of the first memories that the index lacks."""
    if last < first or limit <= 0:
        return []
    rows = tx.rows(_MEMORY_TEXTS, {"first": first, "last": last, "limit": limit})
    return [(row[0], row[1], row[2]) for row in rows]


def count_messages(tx: Tx, first: int, last: int) -> int:
    """Return how many messages the index lacks."""
    return tx.rows(_MESSAGE_COUNT, {"first": first, "last": last})[0][0]


def count_memories(tx: Tx, first: int, last: int) -> int:
    """Return how many memories the index lacks."""
    return tx.rows(_MEMORY_COUNT, {"first": first, "last": last})[0][0]
