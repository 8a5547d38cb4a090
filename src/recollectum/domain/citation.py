"""Citation: the place in a conversation that a memory came from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Characters of one message's text, and where that message stands."""

    session_id: str
    message_id: str
    #: Of the message in its session, from 1.
    position: int
    start: int
    end: int
    #: Whether these very words were cited; else no more is known than the message, and the characters are all of it.
    exact: bool
