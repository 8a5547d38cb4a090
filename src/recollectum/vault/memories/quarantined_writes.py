"""Inserts messages and memories, and sets them aside at once when their source is in quarantine."""

from recollectum.domain.memory import Memory, State
from recollectum.domain.message import Message, Role
from recollectum.policy.lifecycle import Retention
from recollectum.recall.index.chunk_index import index_message
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import messages, sessions
from recollectum.storage.tables.trail import quarantines
from recollectum.vault.memories import changes

#: Why such a memory moved, as its event says.
QUARANTINE_REASON = "quarantine"


def insert_message(tx: Tx, message: Message) -> None:
    """Write a message, and let it be found unless its source is set aside."""
    number = messages.insert(tx, message)
    held_by = _find_quarantine(tx, message)
    if held_by is None:
        index_message(tx, number, message)
    else:
        quarantines.add_message(tx, held_by, message.id)


def apply_quarantine(
    change: changes.Change,
    memory: Memory,
    rules: Retention,
    *,
    agent: str | None = None,
    message_id: str | None = None,
) -> Memory:
    """The memory as it was written, or set aside when its source is.

    The source is who writes, through which `agent`, and from which message; what the memory came from before was
    another's word.
    """
    if memory.state is not State.ACTIVE:
        return memory
    for one in quarantines.standing_ones(change.tx):
        said_by = (f"author:{change.actor}", f"agent:{agent}")
        if one.source in said_by or (message_id and quarantines.holder(change.tx, message_id) == one.id):
            quarantines.add_memory(change.tx, one.id, memory.id)
            return changes.move(change, memory, one.went, rules, QUARANTINE_REASON)
    return memory


def _find_quarantine(tx: Tx, message: Message) -> str | None:
    """The quarantine that a new message falls under."""
    found = quarantines.standing_ones(tx)
    if not found:
        return None
    original = message.extra.get("copy_of")
    if isinstance(original, str) and (held_by := quarantines.holder(tx, original)):
        return held_by
    return next((one.id for one in found if _is_from_source(tx, one.source, message)), None)


def _is_from_source(tx: Tx, source: str, message: Message) -> bool:
    kind, _, name = source.partition(":")
    match kind:
        case "session":
            return message.session_id == name
        case "tool":
            return _is_by_tool(message, name)
        case "agent" | "imported":
            session = sessions.find(tx, message.session_id)
            return session is not None and (session.imported if kind == "imported" else session.key.agent == name)
        case _:
            # An import is over once it is there, and an author writes memories.
            return False


def _is_by_tool(message: Message, name: str) -> bool:
    spoke = message.speaker is not None and message.speaker.casefold() == name.casefold()
    return message.role is Role.TOOL and (spoke or any(call.name == name for call in message.tool_calls))
