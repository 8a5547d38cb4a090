"""Reads and writes the summaries table: a derived summary of the older part of each conversation."""

from datetime import datetime

from recollectum.domain.session import Summary
from recollectum.storage.port import Tx
from recollectum.storage.times import micros

_FIND = "SELECT text, covered_to, made_by FROM summaries WHERE session_id = :session_id"
_INSERT = """
    INSERT INTO summaries (session_id, covered_to, text, made_by, made_at)
    VALUES (:session_id, :covered_to, :text, :made_by, :made_at)
    ON CONFLICT DO NOTHING
"""
_UPDATE = """
    UPDATE summaries SET covered_to = :covered_to, text = :text, made_by = :made_by, made_at = :made_at
     WHERE session_id = :session_id AND covered_to = :before
"""
_DROP = "DELETE FROM summaries WHERE session_id = :session_id"
_UNCOVERED = """
    SELECT count(*), coalesce(sum(token_estimate), 0) FROM messages
     WHERE session_id = :session_id AND position > :after AND position <= :up_to
"""


def find(tx: Tx, session_id: str) -> Summary | None:
    """Return the summary of a session, or None."""
    rows = tx.rows(_FIND, {"session_id": session_id})
    return Summary(text=rows[0][0], up_to=rows[0][1], by=rows[0][2]) if rows else None


def save(tx: Tx, session_id: str, made: Summary, at: datetime, *, before: int) -> bool:
    """Replace the summary that reached `before` (0 for none); return False when another one is stored by now."""
    row = {
        "session_id": session_id,
        "covered_to": made.up_to,
        "text": made.text,
        "made_by": made.by,
        "made_at": micros(at),
    }
    return tx.run(_UPDATE, {**row, "before": before}) == 1 if before else tx.run(_INSERT, row) == 1


def drop(tx: Tx, session_id: str) -> bool:
    """Delete the summary of a session, and return whether it existed."""
    return tx.run(_DROP, {"session_id": session_id}) == 1


def said_between(tx: Tx, session_id: str, after: int, up_to: int) -> tuple[int, int]:
    """Return the number of messages between two positions of a session, and about how many tokens they have."""
    count, tokens = tx.rows(_UNCOVERED, {"session_id": session_id, "after": after, "up_to": up_to})[0]
    return count, tokens
