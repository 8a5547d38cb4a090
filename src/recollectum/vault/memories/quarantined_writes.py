"""Sets a memory aside as it is written, when its source is in quarantine."""

from recollectum.domain.memory import Memory, State
from recollectum.policy.lifecycle import Retention
from recollectum.storage.tables.trail import quarantines
from recollectum.vault.memories import changes

#: Why such a memory moved, as its event says.
QUARANTINE_REASON = "quarantine"


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
