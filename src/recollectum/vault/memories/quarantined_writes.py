"""Quarantines a memory as it is written, when its source is in quarantine."""

from recollectum.domain.memory import Memory, State
from recollectum.policy.lifecycle import Retention
from recollectum.storage.tables.trail import quarantines
from recollectum.vault.memories import changes

#: The reason in the event of such a memory.
QUARANTINE_REASON = "quarantine"


def apply_quarantine(
    change: changes.Change,
    memory: Memory,
    rules: Retention,
    *,
    agent: str | None = None,
    message_id: str | None = None,
) -> Memory:
    """Return the memory as written, or quarantined when its source is.

    The source is the caller, the `agent` and the message; where the memory came from before does not count.
    """
    if memory.state is not State.ACTIVE:
        return memory
    for one in quarantines.standing_ones(change.tx):
        said_by = (f"author:{change.actor}", f"agent:{agent}")
        if one.source in said_by or (message_id and quarantines.holder(change.tx, message_id) == one.id):
            quarantines.add_memory(change.tx, one.id, memory.id)
            return changes.move(change, memory, one.went, rules, QUARANTINE_REASON)
    return memory
