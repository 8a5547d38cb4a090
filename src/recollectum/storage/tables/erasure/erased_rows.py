"""Deletes the rows that a purge covers."""

import json
from collections.abc import Sequence

from recollectum.storage.port import Tx
from recollectum.storage.tables.index import coarse
from recollectum.storage.tables.learning import profiles

_MESSAGE_VECTORS = """
    SELECT vectors.data FROM vectors JOIN chunks ON chunks.number = vectors.chunk
     WHERE chunks.source = :source AND chunks.source_number = :number
     ORDER BY vectors.generation, vectors.chunk LIMIT 1
"""
_FIND_MESSAGE = "SELECT number FROM messages WHERE id = :id"
_DELETE_MESSAGE = "DELETE FROM messages WHERE id = :id"
_CLEAR_TITLE = "UPDATE sessions SET title = NULL, summary = NULL WHERE id = :id"
_SCRUB_EVENTS = "UPDATE events SET payload = NULL WHERE subject_id = :id AND payload IS NOT NULL"
_FORGET_NO = """
    DELETE FROM erased WHERE id IN (
        SELECT fingerprint FROM proposals WHERE id IN (SELECT proposal_id FROM proposal_items WHERE item = :id))
"""
# Every idempotency key begins with the subject and a colon, which a semicolon follows.
_FORGET_JOBS = "DELETE FROM jobs WHERE idempotency > :id || ':' AND idempotency < :id || ';' AND subject = :id"
_FORGET_RUNS = "DELETE FROM runs WHERE session_id = :id"
# No index has these two, so one statement deletes the effects on many memories.
_FORGET_EFFECTS = """
    DELETE FROM run_effects
     WHERE memory_id IN (SELECT value FROM texts(:ids)) OR target_id IN (SELECT value FROM texts(:ids))
"""
_CLEAR_SOURCE_MESSAGE = """
    UPDATE memories SET message_id = NULL
     WHERE id = :id AND message_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages WHERE id = memories.message_id)
"""
_SOME_TEXTS = """
    SELECT text FROM messages WHERE number % (SELECT 1 + count(*) / :most FROM messages) = 0
    UNION ALL SELECT content FROM memories WHERE number % (SELECT 1 + count(*) / :most FROM memories) = 0
"""
_SOME_STATE = (
    "SELECT command FROM shell_commands ORDER BY id DESC LIMIT :most",
    "SELECT body FROM documents ORDER BY updated_at DESC LIMIT :most",
)
#: Samples of each kind of what agents keep, besides those of the texts.
_OF_STATE = 3


def vector_of(tx: Tx, source: str, number: int) -> bytes | None:
    """Return a vector of a row, or None."""
    rows = tx.rows(_MESSAGE_VECTORS, {"source": source, "number": number})
    return rows[0][0] if rows else None


def message_number(tx: Tx, message_id: str) -> int | None:
    """Return the row number of a message."""
    rows = tx.rows(_FIND_MESSAGE, {"id": message_id})
    return rows[0][0] if rows else None


def delete_message(tx: Tx, message_id: str) -> None:
    """Delete a message, and the summary that may repeat it."""
    tx.run(_DELETE_MESSAGE, {"id": message_id})


def clear_title(tx: Tx, session_id: str) -> None:
    """Clear the title of a session, which may be made of erased words."""
    tx.run(_CLEAR_TITLE, {"id": session_id})


def forget_about(tx: Tx, item_id: str) -> None:
    """Delete what jobs, events, rejections and the runs of a session say about an item, before it is deleted."""
    for sql in (_SCRUB_EVENTS, _FORGET_NO, _FORGET_JOBS, _FORGET_RUNS):
        tx.run(sql, {"id": item_id})


def forget_effects(tx: Tx, memory_ids: Sequence[str]) -> None:
    """Delete what runs say about memories that are about to be deleted."""
    if memory_ids:
        tx.run(_FORGET_EFFECTS, {"ids": json.dumps(memory_ids)})


def clear_source_message(tx: Tx, memory_id: str) -> None:
    """Clear the reference of a memory to a deleted message."""
    tx.run(_CLEAR_SOURCE_MESSAGE, {"id": memory_id})


def drop_derived(tx: Tx) -> None:
    """Delete what was derived from many rows at once; it is derived again from the remaining ones."""
    coarse.drop_all(tx)
    profiles.drop_all(tx)


def some_texts(tx: Tx, most: int) -> list[str]:
    """Return a sample of the texts of the whole vault."""
    state = [row[0] for sql in _SOME_STATE for row in tx.rows(sql, {"most": _OF_STATE})]
    # First: only so many are taken, and a few of these are enough.
    return [*state, *(row[0] for row in tx.rows(_SOME_TEXTS, {"most": most}))]
