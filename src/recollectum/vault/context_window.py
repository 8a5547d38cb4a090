"""Loading the end of a conversation: as many messages as a window can need, however long the conversation is."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollectum.context.turns import FARTHEST, calls_answered
from recollectum.domain.message import Message, Role
from recollectum.domain.session import Session
from recollectum.storage.port import Tx
from recollectum.storage.tables import messages, quarantines


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The end of a conversation."""

    #: In order.
    messages: Sequence[Message] = ()
    #: How many older messages there are.
    earlier: int = 0


def load_window(tx: Tx, session: Session, most: int) -> Said:
    """The last messages, with the calls that their results answer and the question they are about."""
    if most == 0:
        return Said(earlier=session.message_count)
    # One more than may go in shows whether the oldest turn is whole.
    said = messages.latest(tx, session.id, before=None, limit=most + 1)
    if said and _lacks_calls(said):
        said = messages.latest(tx, session.id, before=None, limit=most + 1 + FARTHEST)
    if said and all(one.role is not Role.USER for one in said):
        said = [*_question(tx, session.id, said[0].position), *said]
    aside = quarantines.of_session(tx, session.id)
    shown = [one for one in said if one.id not in aside] if aside else said
    return Said(messages=shown, earlier=max(0, session.message_count - len(said)))


def last_question(tx: Tx, session_id: str) -> str:
    """What the person said last in a session; empty when they said nothing."""
    start = messages.turn_start(tx, session_id, 1)
    found = messages.after(tx, session_id, start - 1, 1)
    return found[0].text if found and found[0].role is Role.USER else ""


def _lacks_calls(said: Sequence[Message]) -> bool:
    """Whether a result's call lies further back."""
    if said[0].role is Role.TOOL:
        return True
    made = {call.id for one in said for call in one.tool_calls}
    return any(calls_answered(one) - made for one in said if one.role is Role.TOOL)


def _question(tx: Tx, session_id: str, before: int) -> list[Message]:
    start = messages.turn_start(tx, session_id, 1)
    found = messages.after(tx, session_id, start - 1, 1) if start < before else []
    return found if found and found[0].role is Role.USER else []
