"""Reads and writes the citations table: the message spans that support a memory."""

from collections.abc import Callable, Iterable

from recollectum.domain.memory import Citation
from recollectum.domain.proposal import Span
from recollectum.storage.port import Tx

#: Returns where a span is in a changed text; None when it is not there any more.
MovedSpan = Callable[[int, int], tuple[int, int] | None]

_ADD = """
    INSERT INTO citations (memory_id, message_id, start, stop, run_id)
    SELECT :memory_id, id, :start, :stop, :run_id FROM messages WHERE id = :message_id
    ON CONFLICT DO NOTHING
"""
_OF = """
    SELECT message_id, start, stop FROM citations WHERE memory_id = :memory_id ORDER BY message_id, start, stop
"""
_PLACES = """
    SELECT messages.session_id, messages.id, messages.position, citations.start, citations.stop
      FROM citations JOIN messages ON messages.id = citations.message_id
     WHERE citations.memory_id = :memory_id
     ORDER BY messages.session_id, messages.position, citations.start, citations.stop
"""
_CITING = """
    SELECT memory_id, start, stop, run_id FROM citations WHERE message_id = :message_id
     ORDER BY memory_id, start, stop
"""
_REMOVE_OF_MESSAGE = "DELETE FROM citations WHERE message_id = :message_id"
_REMOVE = "DELETE FROM citations WHERE memory_id = :memory_id"


def add(tx: Tx, memory_id: str, spans: Iterable[Span], run_id: str | None) -> None:
    """Store the message spans that a memory came from; deleted messages are not cited."""
    for span in spans:
        place = {"message_id": span.message_id, "start": span.start, "stop": span.end}
        tx.run(_ADD, {"memory_id": memory_id, "run_id": run_id, **place})


def of(tx: Tx, memory_id: str) -> list[Span]:
    """Return the message spans that a memory came from."""
    return [Span(row[0], row[1], row[2]) for row in tx.rows(_OF, {"memory_id": memory_id})]


def places(tx: Tx, memory_id: str) -> list[Citation]:
    """Return the spans with the position of each message, in the order in which they were said."""
    return [
        Citation(session_id=row[0], message_id=row[1], position=row[2], start=row[3], end=row[4], exact=True)
        for row in tx.rows(_PLACES, {"memory_id": memory_id})
    ]


def remove(tx: Tx, memory_id: str) -> None:
    """Delete the citations of a memory."""
    tx.run(_REMOVE, {"memory_id": memory_id})


def citing(tx: Tx, message_id: str) -> list[tuple[str, Span]]:
    """Return the memories that cite a message, each with a span of it."""
    rows = tx.rows(_CITING, {"message_id": message_id})
    return [(row[0], Span(message_id, row[1], row[2])) for row in rows]


def move(tx: Tx, message_id: str, to: MovedSpan) -> set[str]:
    """Move the citations of a message whose text has changed; return the memories that now cite nothing."""
    rows = tx.rows(_CITING, {"message_id": message_id})
    tx.run(_REMOVE_OF_MESSAGE, {"message_id": message_id})
    for memory_id, start, stop, run_id in rows:
        if place := to(start, stop):
            add(tx, memory_id, [Span(message_id, *place)], run_id)
    return {row[0] for row in rows if not of(tx, row[0])}
