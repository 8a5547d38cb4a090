"""Making saved rows agree again after others were lost: what belongs to nothing goes, what is left stands by itself."""

from pathlib import Path

from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.failures import translated

#: By table: rows of memories that are lost, which nothing could ever show again.
_DROPPED = {
    "memory_versions": "DELETE FROM memory_versions WHERE memory_id NOT IN (SELECT id FROM memories)",
    "citations": "DELETE FROM citations WHERE memory_id NOT IN (SELECT id FROM memories)",
}
_MENDED = (
    # What replaced it is lost: better the fact before it than none.
    """
    UPDATE memories SET superseded_by = NULL
     WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT id FROM memories)
    """,
    """
    UPDATE memories SET supersedes = NULL
     WHERE supersedes IS NOT NULL AND supersedes NOT IN (SELECT id FROM memories)
    """,
    # The next message must not take the place of one that was saved.
    """
    UPDATE sessions SET message_count = (SELECT max(position) FROM messages WHERE session_id = sessions.id)
     WHERE message_count < (SELECT max(position) FROM messages WHERE session_id = sessions.id)
    """,
)


def mend(path: Path, *, key: bytes | None) -> dict[str, int]:
    """Make the rows of a salvaged vault agree; how many of each table had to go."""
    connection = connect(path, key=key)
    try:
        with translated(path, encrypted=key is not None):
            connection.execute("BEGIN IMMEDIATE")
            dropped: dict[str, int] = {}
            for table, sql in _DROPPED.items():
                connection.execute(sql)
                dropped[table] = connection.changes()
            for sql in _MENDED:
                connection.execute(sql)
            connection.execute("COMMIT")
            return {table: count for table, count in dropped.items() if count}
    finally:
        connection.close()
