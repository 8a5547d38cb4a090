"""Deletes the rows that a purge covers, and searches the remaining rows for the erased text."""

import json
from collections.abc import Iterable, Sequence

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
_CANONICAL = """
    SELECT 1 FROM messages
     WHERE instr(lower(text), :lower) > 0 OR instr(lower(coalesce(parts, '')), :lower) > 0
        OR instr(lower(coalesce(tool_calls, '')), :lower) > 0 OR instr(lower(coalesce(thoughts, '')), :lower) > 0
    UNION ALL SELECT 1 FROM memories WHERE instr(lower(content), :lower) > 0
    UNION ALL SELECT 1 FROM memory_versions WHERE instr(lower(content), :lower) > 0
    UNION ALL SELECT 1 FROM notes WHERE instr(lower(text), :lower) > 0
    LIMIT 1
"""
_OTHER_TEXTS = """
    SELECT 1 FROM sessions
     WHERE instr(coalesce(title, ''), :account) > 0 OR instr(coalesce(summary, ''), :account) > 0
        OR instr(coalesce(extra, ''), :account) > 0
    UNION ALL SELECT 1 FROM messages
     WHERE instr(coalesce(extra, ''), :account) > 0 OR instr(coalesce(speaker, ''), :account) > 0
    UNION ALL SELECT 1 FROM summaries WHERE instr(text, :account) > 0
    UNION ALL SELECT 1 FROM proposals WHERE instr(content, :account) > 0 OR instr(reason, :account) > 0
    LIMIT 1
"""
# Where the same words remain, apart from the rows that are about to go.
_REMAINING = """
    SELECT 'session' AS kind, session_id AS id FROM messages
     WHERE EXISTS (SELECT 1 FROM texts(:texts) AS wanted
         WHERE instr(lower(text), wanted.value) > 0 OR instr(lower(coalesce(parts, '')), wanted.value) > 0
            OR instr(lower(coalesce(tool_calls, '')), wanted.value) > 0
            OR instr(lower(coalesce(thoughts, '')), wanted.value) > 0)
       AND id NOT IN (SELECT value FROM texts(:gone))
    UNION SELECT 'memory', id FROM memories
     WHERE EXISTS (SELECT 1 FROM texts(:texts) AS wanted WHERE instr(lower(content), wanted.value) > 0)
       AND id NOT IN (SELECT value FROM texts(:gone))
    UNION SELECT 'memory', memory_id FROM memory_versions
     WHERE EXISTS (SELECT 1 FROM texts(:texts) AS wanted WHERE instr(lower(content), wanted.value) > 0)
       AND memory_id NOT IN (SELECT value FROM texts(:gone))
    UNION SELECT 'note', path FROM notes
     WHERE EXISTS (SELECT 1 FROM texts(:texts) AS wanted WHERE instr(lower(text), wanted.value) > 0)
       AND folder NOT IN (SELECT value FROM texts(:gone))
    ORDER BY 1, 2
"""
# Names in the file that are no content; a part of an erased word may equal a part of one of them.
_IDENTIFIERS = """
    SELECT 1 FROM sqlite_schema WHERE instr(lower(coalesce(sql, '')), :lower) > 0
    UNION ALL SELECT 1 FROM sessions WHERE instr(lower(key || coalesce(title, '') || coalesce(project, '')), :lower) > 0
    UNION ALL SELECT 1 FROM events WHERE instr(lower(type || subject || actor || coalesce(payload, '')), :lower) > 0
    UNION ALL SELECT 1 FROM memories WHERE instr(lower(coalesce(key, '') || author || coalesce(agent, '')), :lower) > 0
    UNION ALL SELECT 1 FROM messages WHERE instr(lower(coalesce(model, '') || coalesce(speaker, '')), :lower) > 0
    UNION ALL SELECT 1 FROM note_folders WHERE instr(lower(path), :lower) > 0
    UNION ALL SELECT 1 FROM notes WHERE instr(lower(path), :lower) > 0
    UNION ALL SELECT 1 FROM transcript_roots WHERE instr(lower(path), :lower) > 0
    UNION ALL SELECT 1 FROM transcript_files WHERE instr(lower(path), :lower) > 0
    UNION ALL SELECT 1 FROM generations WHERE instr(lower(identity), :lower) > 0
    UNION ALL SELECT 1 FROM meta WHERE NOT (name >= 'profile:' AND name < 'profile;')
       AND instr(lower(name || value), :lower) > 0
    UNION ALL SELECT 1 FROM migrations WHERE instr(lower(name), :lower) > 0
    LIMIT 1
"""
_VECTOR = """
    SELECT 1 FROM vectors WHERE substr(data, 1, length(:data)) = :data
    UNION ALL SELECT 1 FROM embedding_cache WHERE substr(data, 1, length(:data)) = :data LIMIT 1
"""
_SOME_TEXTS = """
    SELECT text FROM messages WHERE number % (SELECT 1 + count(*) / :most FROM messages) = 0
    UNION ALL SELECT content FROM memories WHERE number % (SELECT 1 + count(*) / :most FROM memories) = 0
"""
_ASCII_LOWER = {ord(upper): upper.lower() for upper in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


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


def text_exists(tx: Tx, text: str) -> bool:
    """Return whether the remaining rows contain the text."""
    return bool(tx.rows(_CANONICAL, {"lower": _lower(text)}))


def where_texts_remain(tx: Tx, texts: Iterable[str], gone: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return the kind and id of each session, memory and note that contains one of the texts, except the `gone`."""
    wanted = json.dumps(sorted({_lower(one) for one in texts}))
    return [(row[0], row[1]) for row in tx.rows(_REMAINING, {"texts": wanted, "gone": json.dumps(sorted(gone))})]


def is_referenced(tx: Tx, account: str) -> bool:
    """Return whether any text refers to a stored secret."""
    return text_exists(tx, account) or bool(tx.rows(_OTHER_TEXTS, {"account": account}))


def is_identifier(tx: Tx, text: str) -> bool:
    """Return whether a name in the file contains those letters."""
    return bool(tx.rows(_IDENTIFIERS, {"lower": _lower(text)}))


def has_vector(tx: Tx, data: bytes) -> bool:
    """Return whether a remaining vector begins with the same bytes."""
    return bool(tx.rows(_VECTOR, {"data": data}))


def some_texts(tx: Tx, most: int) -> list[str]:
    """Return a sample of the texts of the whole vault."""
    return [row[0] for row in tx.rows(_SOME_TEXTS, {"most": most})]


def _lower(text: str) -> str:
    # Like SQLite's `lower`, which changes ASCII letters only.
    return text.translate(_ASCII_LOWER)
