"""Checkpoint: a named place in a conversation from which it can go on once more."""

from dataclasses import dataclass
from datetime import datetime

from recollectum.domain.session import Session

#: Where a session keeps what it was forked from, and a copied message the id of the one it is a copy of.
FORK, ORIGIN = "forked_from", "copy_of"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A place in a conversation, by name."""

    name: str
    session_id: str
    #: The position of the last message that belongs to it.
    position: int
    saved_at: datetime


def copied_to(session: Session) -> int:
    """The position up to which a session's messages are copies of another's; 0 when it began by itself."""
    fork = session.extra.get(FORK)
    copied = fork.get("messages") if isinstance(fork, dict) else None
    return copied if isinstance(copied, int) else 0
