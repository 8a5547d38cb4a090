"""Reads and writes the barred table: message spans of forgotten memories, which consolidation skips."""

from recollectum.domain.proposal import Span
from recollectum.storage.port import Tx
from recollectum.storage.tables.content.citations import MovedSpan

# The cited spans, or the whole message in which it was remembered.
_ADD_CITED = """
    INSERT INTO barred (memory_id, message_id, start, stop)
    SELECT memory_id, message_id, start, stop FROM citations WHERE memory_id = :memory_id
    ON CONFLICT DO NOTHING
"""
_UNCITED = """
    SELECT messages.id, messages.text FROM memories JOIN messages ON messages.id = memories.message_id
     WHERE memories.id = :memory_id AND NOT EXISTS (SELECT 1 FROM citations WHERE memory_id = :memory_id)
"""
# They were added from these two, and go with their message.
_REMOVE = """
    DELETE FROM barred
     WHERE memory_id = :memory_id AND message_id IN (
        SELECT message_id FROM citations WHERE memory_id = :memory_id
        UNION
        SELECT message_id FROM memories WHERE id = :memory_id)
"""
_OF_MESSAGE = "SELECT memory_id, start, stop FROM barred WHERE message_id = :message_id ORDER BY 1, 2, 3"
_REMOVE_OF_MESSAGE = "DELETE FROM barred WHERE message_id = :message_id"
_PUT = """
    INSERT INTO barred (memory_id, message_id, start, stop) VALUES (:memory_id, :message_id, :start, :stop)
    ON CONFLICT DO NOTHING
"""
_OF_SESSION = """
    SELECT DISTINCT barred.message_id, barred.start, barred.stop
      FROM barred JOIN messages ON messages.id = barred.message_id
     WHERE messages.session_id = :session_id
     ORDER BY 1, 2, 3
"""


def add(tx: Tx, memory_id: str) -> None:
    """Block the message spans that a memory came from."""
    tx.run(_ADD_CITED, {"memory_id": memory_id})
    for message_id, text in tx.rows(_UNCITED, {"memory_id": memory_id}):
        tx.run(_PUT, {"memory_id": memory_id, "message_id": message_id, "start": 0, "stop": len(text)})


def remove(tx: Tx, memory_id: str) -> None:
    """Unblock the message spans of a memory."""
    tx.run(_REMOVE, {"memory_id": memory_id})


def of_session(tx: Tx, session_id: str) -> list[Span]:
    """Return the blocked spans of a conversation."""
    return [Span(row[0], row[1], row[2]) for row in tx.rows(_OF_SESSION, {"session_id": session_id})]


def move(tx: Tx, message_id: str, to: MovedSpan) -> None:
    """Move the blocked spans of a message whose text has changed."""
    rows = tx.rows(_OF_MESSAGE, {"message_id": message_id})
    tx.run(_REMOVE_OF_MESSAGE, {"message_id": message_id})
    for memory_id, start, stop in rows:
        if place := to(start, stop):
            placed = {"memory_id": memory_id, "message_id": message_id, "start": place[0], "stop": place[1]}
            tx.run(_PUT, placed)
