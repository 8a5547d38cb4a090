"""Searches the rows that remain after a purge for the erased text."""

import json
from collections.abc import Iterable, Iterator

from recollectum.storage.port import Row, Tx
from recollectum.storage.tables.folding import fold

_CANONICAL = """
    SELECT 1 FROM messages
     WHERE instr(lower(text), :lower) > 0 OR instr(lower(coalesce(parts, '')), :lower) > 0
        OR instr(lower(coalesce(tool_calls, '')), :lower) > 0 OR instr(lower(coalesce(thoughts, '')), :lower) > 0
    UNION ALL SELECT 1 FROM memories WHERE instr(lower(content), :lower) > 0
    UNION ALL SELECT 1 FROM memory_versions WHERE instr(lower(content), :lower) > 0
    UNION ALL SELECT 1 FROM notes WHERE instr(lower(text), :lower) > 0
    UNION ALL SELECT 1 FROM shell_commands WHERE instr(lower(command), :lower) > 0
    UNION ALL SELECT 1 FROM documents WHERE instr(lower(body), :lower) > 0
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
    UNION SELECT 'command', id FROM shell_commands
     WHERE EXISTS (SELECT 1 FROM texts(:texts) AS wanted WHERE instr(lower(command), wanted.value) > 0)
       AND id NOT IN (SELECT value FROM texts(:gone))
    UNION SELECT 'document', name FROM documents
     WHERE EXISTS (SELECT 1 FROM texts(:texts) AS wanted WHERE instr(lower(body), wanted.value) > 0)
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
# For an engine that cannot look into a text: every text is read here, a page after the other.
_PAGE = 512
_MESSAGES = """
    SELECT number, session_id, id, text, parts, tool_calls, thoughts FROM messages
     WHERE number > :after ORDER BY number LIMIT :limit
"""
_MEMORIES = "SELECT number, id, id, content FROM memories WHERE number > :after ORDER BY number LIMIT :limit"
_NOTES = "SELECT number, path, folder, text FROM notes WHERE number > :after ORDER BY number LIMIT :limit"
_COMMANDS = "SELECT id, command FROM shell_commands WHERE id > :after ORDER BY id LIMIT :limit"
_DOCUMENTS = "SELECT name, body FROM documents"
_VERSIONS = "SELECT memory_id, memory_id, content FROM memory_versions"
_DESCRIBED = """
    SELECT title, summary, extra FROM sessions
    UNION ALL SELECT extra, speaker, NULL FROM messages WHERE coalesce(extra, speaker) IS NOT NULL
    UNION ALL SELECT text, NULL, NULL FROM summaries
    UNION ALL SELECT content, reason, NULL FROM proposals
"""
_NAMES = (
    "SELECT key, title, project FROM sessions",
    "SELECT actor, payload FROM events",
    "SELECT key, author, agent FROM memories",
    "SELECT model, speaker FROM messages",
    "SELECT path FROM note_folders",
    "SELECT path FROM notes",
    "SELECT path FROM transcript_roots",
    "SELECT path FROM transcript_files",
    "SELECT name, value FROM meta WHERE NOT (name >= 'profile:' AND name < 'profile;')",
)
_VECTORS = (
    "SELECT chunk, data FROM vectors WHERE generation = :generation AND chunk > :after ORDER BY chunk LIMIT :limit"
)
_GENERATIONS = "SELECT id FROM generations"
_CACHED = "SELECT data FROM embedding_cache"


def text_exists(tx: Tx, text: str) -> bool:
    """Return whether the remaining rows contain the text."""
    wanted = fold(text)
    if tx.reads_texts:
        return bool(tx.rows(_CANONICAL, {"lower": wanted}))
    return any(wanted in fold(one) for _, _, _, texts in _texts(tx) for one in texts)


def where_texts_remain(tx: Tx, texts: Iterable[str], gone: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return the kind and id of each item that contains one of the texts, except the `gone`."""
    wanted, left_out = sorted({fold(one) for one in texts}), set(gone)
    if tx.reads_texts:
        rows = tx.rows(_REMAINING, {"texts": json.dumps(wanted), "gone": json.dumps(sorted(left_out))})
        return [(row[0], row[1]) for row in rows]
    return sorted(
        {
            (kind, shown)
            for kind, shown, row_id, found in _texts(tx)
            if row_id not in left_out and any(one in fold(text) for text in found for one in wanted)
        }
    )


def is_referenced(tx: Tx, account: str) -> bool:
    """Return whether any text refers to a stored secret."""
    if text_exists(tx, account):
        return True
    if tx.reads_texts:
        return bool(tx.rows(_OTHER_TEXTS, {"account": account}))
    return any(account in one for row in tx.rows(_DESCRIBED, {}) for one in row if one)


def is_identifier(tx: Tx, text: str) -> bool:
    """Return whether a name in the vault contains those letters."""
    wanted = fold(text)
    if tx.reads_texts:
        return bool(tx.rows(_IDENTIFIERS, {"lower": wanted}))
    return any(wanted in fold("".join(filter(None, row))) for sql in _NAMES for row in tx.rows(sql, {}))


def has_vector(tx: Tx, data: bytes) -> bool:
    """Return whether a remaining vector begins with the same bytes."""
    if tx.reads_texts:
        return bool(tx.rows(_VECTOR, {"data": data}))
    vectors = (row[1] for (one,) in tx.rows(_GENERATIONS, {}) for row in _paged(tx, _VECTORS, generation=one))
    return any(one.startswith(data) for one in vectors) or any(row[0].startswith(data) for row in tx.rows(_CACHED, {}))


def _texts(tx: Tx) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield each row with its kind, its id for people, the id by which it is left out, and its texts."""
    for row in _paged(tx, _MESSAGES):
        yield "session", row[1], row[2], [text for text in row[3:] if text]
    for row in _paged(tx, _MEMORIES):
        yield "memory", row[1], row[2], [row[3]]
    for row in tx.rows(_VERSIONS, {}):
        yield "memory", row[0], row[1], [row[2]]
    for row in _paged(tx, _NOTES):
        yield "note", row[1], row[2], [row[3]]
    after = ""
    while rows := tx.rows(_COMMANDS, {"after": after, "limit": _PAGE}):
        yield from (("command", row[0], row[0], [row[1]]) for row in rows)
        after = rows[-1][0]
    for row in tx.rows(_DOCUMENTS, {}):
        yield "document", row[0], row[0], [row[1]]


def _paged(tx: Tx, sql: str, **values: int) -> Iterator[Row]:
    after = 0
    while rows := tx.rows(sql, {**values, "after": after, "limit": _PAGE}):
        yield from rows
        after = rows[-1][0]
