"""Whether a vault's rows agree with one another: no change to it was made by half."""

import apsw

from recollectum.recall.index.verification import check_index
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase

#: How many rows break each rule.
_RULES = {
    "a memory without the event of its making": """
        SELECT count(*) FROM memories WHERE 1 <> (
            SELECT count(*) FROM events WHERE subject_id = memories.id AND type = 'created')
    """,
    "a memory whose last event tells of another state or version": """
        SELECT count(*) FROM memories WHERE (state, version) IS NOT (
            SELECT state, json_extract(payload, '$.version') FROM events
             WHERE subject_id = memories.id ORDER BY number DESC LIMIT 1)
    """,
    "a memory whose earlier versions are not all there": """
        SELECT count(*) FROM memories WHERE (version - 1, version - 1) IS NOT (
            SELECT count(*), coalesce(max(version), 0) FROM memory_versions WHERE memory_id = memories.id)
    """,
    "a change without its event": """
        SELECT count(*) FROM memories WHERE version - 1 <> (
            SELECT count(*) FROM events WHERE subject_id = memories.id AND type IN ('edited', 'superseded'))
    """,
    "a version of no memory": """
        SELECT count(*) FROM memory_versions WHERE NOT EXISTS (SELECT 1 FROM memories WHERE id = memory_id)
    """,
    "an event of a memory that is not there": """
        SELECT count(*) FROM events WHERE subject = 'memory' AND type = 'created'
           AND NOT EXISTS (SELECT 1 FROM memories WHERE id = subject_id)
           AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.subject_id = events.subject_id
                              AND later.type = 'purged')
    """,
    "a superseded memory without its successor": """
        SELECT count(*) FROM memories AS old WHERE superseded_by IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM memories WHERE id = old.superseded_by AND supersedes = old.id)
    """,
    "a session whose messages are not one to its count": """
        SELECT count(*) FROM sessions WHERE (message_count, message_count) IS NOT (
            SELECT count(*), coalesce(max(position), 0) FROM messages WHERE session_id = sessions.id)
    """,
    "a session without the event of its opening": """
        SELECT count(*) FROM sessions WHERE 1 <> (
            SELECT count(*) FROM events WHERE subject_id = sessions.id AND type = 'opened')
    """,
    "a piece that says something else of its turn than the turn": """
        SELECT count(*) FROM chunks JOIN messages ON messages.number = chunks.source_number
          JOIN sessions ON sessions.id = messages.session_id
         WHERE chunks.source = 'sessions'
           AND (chunks.created_at, chunks.role, chunks.speaker, chunks.trust) IS NOT (
                messages.created_at, messages.role, messages.speaker,
                CASE WHEN sessions.imported AND messages.trust <> 'unknown' THEN 'imported' ELSE messages.trust END)
    """,
    "a piece of the index without its terms": """
        SELECT count(*) FROM chunks WHERE number NOT IN (SELECT rowid FROM search)
    """,
    "terms without their piece of the index": """
        SELECT count(*) FROM search WHERE rowid NOT IN (SELECT number FROM chunks)
    """,
}


def disagreements(database: SqliteDatabase) -> list[str]:
    """Everything that was made by half or damaged; nothing when the vault is whole."""
    found = database.on_connection(_file_faults)
    found += database.read(_broken_rules)
    return found


def _file_faults(connection: apsw.Connection) -> list[str]:
    found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
    found += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
    try:
        connection.execute("INSERT INTO search (search) VALUES ('integrity-check')").fetchall()
    except apsw.CorruptError as error:
        found.append(f"full text: {error}")
    return found


def _broken_rules(tx: Tx) -> list[str]:
    counts = {rule: tx.rows(sql, {})[0][0] for rule, sql in _RULES.items()}
    health = check_index(tx)
    counts["what the vault's own check calls missing"] = health.missing
    counts["what the vault's own check calls stray"] = health.stray
    counts["what the vault's own check calls changed"] = health.changed
    return [f"{count} × {rule}" for rule, count in counts.items() if count]
