"""Keeping what a transcript says: its session once, each message once."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from recollectum.domain.event import EventType
from recollectum.domain.message import Message
from recollectum.domain.session import Session, SessionKey, SessionKind
from recollectum.domain.transcript import Followed
from recollectum.storage.port import Tx
from recollectum.storage.tables import events, messages, sessions
from recollectum.vault.redacting import call_without_secrets, session_without_secrets
from recollectum.vault.transcript import append

#: How much of an id's end is made from the name; see `domain.ids.derived_id`.
_NAMED = 16


def keep(
    tx: Tx, session: Session, said: Iterable[Message], root: Followed, *, actor: str, at: datetime
) -> Counter[str]:
    """Add the messages that are not here yet; how many were `added`, and how many `known`."""
    if sessions.find(tx, session.id) is None:
        placed = replace(session, key=_placed(session.key, root), imported=True, message_count=0, token_estimate=0)
        sessions.insert(tx, session_without_secrets(placed))
    counts: Counter[str] = Counter()
    for message in said:
        standing = known_message(tx, replace(message, session_id=session.id))
        calls = tuple(map(call_without_secrets, message.tool_calls))
        if standing is None:
            append(tx, replace(message, session_id=session.id), message.created_at)
        elif calls and calls != standing.tool_calls:
            # An agent writes a message again when its tools have answered.
            messages.set_calls(tx, replace(standing, tool_calls=calls))
        counts["added" if standing is None else "known"] += 1
    if counts["added"]:
        events.add(
            tx, EventType.IMPORTED, "session", session.id, at=at, actor=actor, payload={"messages": counts["added"]}
        )
    return counts


def known_message(tx: Tx, message: Message) -> Message | None:
    """By the id its agent gave it, which outlives a rewritten transcript, else by ours."""
    if message.native_id is not None:
        found = messages.find_native(tx, message.session_id, message.native_id)
        if found:
            return found
    return messages.find(tx, message.id)


def is_same_conversation(session_id: str, other_id: str | None) -> bool:
    """Whether two ids were made from one name: what follows their time is the same. The time may not be known again."""
    return other_id is not None and session_id[-_NAMED:] == other_id[-_NAMED:]


def _placed(key: SessionKey, root: Followed) -> SessionKey:
    if key.kind in (SessionKind.HOOK, SessionKind.CRON):
        return key
    return replace(key, agent=root.agent or key.agent, channel=root.channel or key.channel)
