"""Sessions that stand in for lost ones, so that messages which were saved do not go with them."""

from recollectum.domain.session import Session, SessionKey, SessionKind
from recollectum.storage.port import Tx
from recollectum.storage.tables import sessions
from recollectum.storage.times import moment

_ORPHANS = """
    SELECT session_id, min(created_at), max(created_at), max(position), sum(token_estimate)
      FROM messages WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id
"""
_TITLE = "recovered from a damaged vault"


def stand_in_for_lost_sessions(tx: Tx) -> int:
    """Make a closed session for messages that have none; how many were made."""
    orphans = tx.rows(_ORPHANS, {})
    for session_id, first, last, position, tokens in orphans:
        sessions.insert(
            tx,
            Session(
                id=session_id,
                # Where it took place is lost as well; no channel opens a session under this key.
                key=SessionKey(kind=SessionKind.HOOK, name="recovered"),
                created_at=moment(first),
                updated_at=moment(last),
                ended_at=moment(last),
                title=_TITLE,
                message_count=position,
                token_estimate=tokens,
            ),
        )
    return len(orphans)
