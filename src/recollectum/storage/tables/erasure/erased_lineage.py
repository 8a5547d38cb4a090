"""Selects the rows that a purge covers: the named ones and everything derived from them."""

from collections.abc import Collection, Mapping
from datetime import datetime

from recollectum.domain.session import SessionKey, origin_of_summary, origin_of_transcript
from recollectum.storage.port import Tx
from recollectum.storage.tables.learning import learnings
from recollectum.storage.tables.parameters import listed
from recollectum.storage.times import micros

_GIVEN = "(SELECT value FROM texts(:ids))"
_MESSAGES_OF = f"SELECT id FROM messages WHERE session_id IN {_GIVEN}"  # noqa: S608  (constants of this file)
_COPIES = f"SELECT id FROM messages WHERE copy_of IN {_GIVEN}"  # noqa: S608
# A session of which no message is left is deleted; one that never had a message stays.
_EMPTIED = f"""
    SELECT DISTINCT session_id FROM messages AS gone WHERE id IN {_GIVEN} AND NOT EXISTS (
        SELECT 1 FROM messages AS stays WHERE stays.session_id = gone.session_id AND stays.id NOT IN {_GIVEN})
"""  # noqa: S608
# Of conversations of which no session stays: an idle one may have been ended and gone on under the same key.
_WHOLE_KEYS = f"""
    SELECT DISTINCT key FROM sessions AS gone WHERE id IN {_GIVEN} AND NOT EXISTS (
        SELECT 1 FROM sessions AS stays WHERE stays.key = gone.key AND stays.id NOT IN {_GIVEN})
"""  # noqa: S608
_KEYS_OF = f"""
    SELECT DISTINCT key FROM sessions WHERE id IN (SELECT session_id FROM messages WHERE id IN {_GIVEN})
"""  # noqa: S608
_SESSIONS_WITH = f"SELECT DISTINCT session_id FROM messages WHERE copy_of IN {_GIVEN}"  # noqa: S608
# A memory without citations came from the message in which it was said.
_ONLY_FROM = f"""
    SELECT memory_id FROM citations WHERE message_id IN {_GIVEN} AND NOT EXISTS (
        SELECT 1 FROM citations AS other
         WHERE other.memory_id = citations.memory_id AND other.message_id NOT IN {_GIVEN})
    UNION
    SELECT id FROM memories WHERE message_id IN {_GIVEN}
       AND NOT EXISTS (SELECT 1 FROM citations WHERE memory_id = memories.id)
"""  # noqa: S608
_PARTLY_FROM = f"""
    SELECT DISTINCT memory_id FROM citations WHERE message_id IN {_GIVEN}
    UNION
    SELECT id FROM memories WHERE message_id IN {_GIVEN}
"""  # noqa: S608
_OLD_MESSAGES = "SELECT id FROM messages WHERE created_at < :before"
_OLD_SESSIONS = "SELECT id FROM sessions WHERE updated_at < :before AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)"  # noqa: E501
_OLD_MEMORIES = "SELECT id FROM memories WHERE updated_at < :before"
_IMPORTED = "SELECT id FROM sessions WHERE imported = 1"
_OF_ROOT = "SELECT DISTINCT session_id FROM transcript_files WHERE root = :root AND session_id IS NOT NULL"
_KNOWN = "SELECT id FROM {table} WHERE id IN (SELECT value FROM texts(:ids))"
_ALL = {
    "session": "SELECT id FROM sessions",
    "message": "SELECT id FROM messages",
    "memory": "SELECT id FROM memories",
    "folder": "SELECT path FROM note_folders",
    "root": "SELECT path FROM transcript_roots",
    "command": "SELECT id FROM shell_commands",
}
_MESSAGE = f"IN {_GIVEN}"
_NAMED = "IN (SELECT value FROM names(:names))"
_COUNTS = {
    "messages": f"SELECT count(*) FROM messages WHERE id {_MESSAGE}",  # noqa: S608
    "citations": f"SELECT count(*) FROM citations WHERE message_id {_MESSAGE} OR memory_id {_MESSAGE}",  # noqa: S608
    "summaries": f"""
        SELECT count(*) FROM summaries WHERE session_id {_MESSAGE} OR EXISTS (
            SELECT 1 FROM messages WHERE messages.session_id = summaries.session_id
               AND messages.position <= covered_to AND messages.id {_MESSAGE})""",  # noqa: S608
    "memories": f"SELECT count(*) FROM memories WHERE id {_MESSAGE}",  # noqa: S608
    "memory_versions": f"SELECT count(*) FROM memory_versions WHERE memory_id {_MESSAGE}",  # noqa: S608
    "sessions": f"SELECT count(*) FROM sessions WHERE id {_MESSAGE}",  # noqa: S608
    "checkpoints": f"SELECT count(*) FROM checkpoints WHERE session_id {_MESSAGE}",  # noqa: S608
    "proposals": f"""
        SELECT count(DISTINCT proposal_id) FROM proposal_items WHERE item {_MESSAGE}""",  # noqa: S608
    "runs": f"SELECT count(*) FROM runs WHERE session_id {_MESSAGE}",  # noqa: S608
    "shell_commands": f"SELECT count(*) FROM shell_commands WHERE id {_MESSAGE}",  # noqa: S608
    # The events stay, but lose their text.
    "events": f"SELECT count(*) FROM events WHERE subject_id {_MESSAGE} AND payload IS NOT NULL",  # noqa: S608
    "notes": f"SELECT count(*) FROM notes WHERE folder {_NAMED}",  # noqa: S608
    "chunks": f"""
        SELECT (SELECT count(*) FROM chunks JOIN messages ON chunks.source = 'sessions'
                   AND chunks.source_number = messages.number WHERE messages.id {_MESSAGE})
             + (SELECT count(*) FROM chunks JOIN memories ON chunks.source = 'memories'
                   AND chunks.source_number = memories.number WHERE memories.id {_MESSAGE})
             + (SELECT count(*) FROM chunks JOIN notes ON chunks.source = 'notes'
                   AND chunks.source_number = notes.number WHERE notes.folder {_NAMED})""",  # noqa: S608
}
_EVERYTHING = (
    "sessions",
    "messages",
    "memories",
    "memory_versions",
    "events",
    "chunks",
    "vectors",
    "embedding_cache",
    "notes",
    "summaries",
    "proposals",
    "checkpoints",
    "shell_commands",
    "documents",
)
_STATE = """
    SELECT (SELECT coalesce(max(number), 0) FROM messages), (SELECT coalesce(max(number), 0) FROM memories),
           (SELECT coalesce(max(number), 0) FROM events), (SELECT count(*) FROM shell_commands),
           (SELECT coalesce(max(at), 0) FROM shell_commands), (SELECT coalesce(max(updated_at), 0) FROM documents)
"""


def messages_of(tx: Tx, sessions: Collection[str]) -> set[str]:
    """Return the messages of these sessions."""
    return _ids(tx, _MESSAGES_OF, sessions)


def copies_of(tx: Tx, messages: Collection[str]) -> set[str]:
    """Return the copies of these messages, as forks and adapters make them."""
    return _ids(tx, _COPIES, messages)


def emptied_by(tx: Tx, messages: Collection[str]) -> set[str]:
    """Return the sessions that have no messages besides these."""
    return _ids(tx, _EMPTIED, messages)


def transcripts_of(tx: Tx, sessions: Collection[str]) -> set[str]:
    """Return the sessions that are other records of these conversations, as adapters keep them."""
    keys = [SessionKey.parse(one) for one in _ids(tx, _WHOLE_KEYS, sessions)]
    return _ids(tx, _SESSIONS_WITH, [origin_of_transcript(one) for one in keys])


def summaries_of(tx: Tx, messages: Collection[str]) -> set[str]:
    """Return the messages that were made from the whole conversations of these messages."""
    keys = [SessionKey.parse(one) for one in _ids(tx, _KEYS_OF, messages)]
    return _ids(tx, _COPIES, [origin_of_summary(one) for one in keys])


def only_from(tx: Tx, messages: Collection[str]) -> set[str]:
    """Return the memories that came from these messages only."""
    return _ids(tx, _ONLY_FROM, messages)


def partly_from(tx: Tx, messages: Collection[str]) -> set[str]:
    """Return the memories that came from these messages in part."""
    return _ids(tx, _PARTLY_FROM, messages)


def older(tx: Tx, before: datetime) -> tuple[set[str], set[str], set[str]]:
    """Return the empty sessions, the messages and the memories last changed before a time."""
    sessions, messages, memories = (
        {row[0] for row in tx.rows(sql, {"before": micros(before)})}
        for sql in (_OLD_SESSIONS, _OLD_MESSAGES, _OLD_MEMORIES)
    )
    return sessions, messages, memories


def imported(tx: Tx) -> set[str]:
    """Return the sessions that were imported."""
    return {row[0] for row in tx.rows(_IMPORTED, {})}


def of_root(tx: Tx, root: int) -> set[str]:
    """Return the remaining sessions that came from one followed transcript path."""
    return _ids(tx, _KNOWN.format(table="sessions"), {row[0] for row in tx.rows(_OF_ROOT, {"root": root})})


def known(tx: Tx, table: str, ids: Collection[str]) -> set[str]:
    """Return which of the ids are in `sessions` or `memories`."""
    return _ids(tx, _KNOWN.format(table=table), ids)


def all_ids(tx: Tx) -> dict[str, list[str]]:
    """Return all ids that a ledger may hold, by kind."""
    return {what: [row[0] for row in tx.rows(sql, {})] for what, sql in _ALL.items()}


def counts(tx: Tx, ids: Collection[str]) -> dict[str, int]:
    """Return how many rows of each table these ids delete."""
    every = listed(sorted(ids))
    # Folders go by their names, which are among the ids.
    given = {"ids": every, "names": every}
    found = {table: tx.rows(sql, given)[0][0] for table, sql in _COUNTS.items()}
    return {**found, "learning_lines": learnings.count_lines(tx, ids)}


def totals(tx: Tx) -> Mapping[str, int]:
    """Return the number of rows of each table."""
    return {table: tx.rows(f"SELECT count(*) FROM {table}", {})[0][0] for table in _EVERYTHING}  # noqa: S608


def state(tx: Tx) -> tuple[int, ...]:
    """Return the highest row numbers; a different value means that the vault has changed."""
    return tx.rows(_STATE, {})[0]


def _ids(tx: Tx, sql: str, given: Collection[str]) -> set[str]:
    return {row[0] for row in tx.rows(sql, {"ids": listed(sorted(given))})} if given else set()
