"""The sweep at start-up and at intervals: what idled while nobody looked, and what a worker that died left behind."""

from dataclasses import dataclass

from recollectum.vault.consolidation_working import Outcome
from recollectum.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What one sweep did in one vault."""

    owner: str
    #: Conversations with words that nobody has read.
    idle: int
    outcomes: tuple[Outcome, ...]
    #: Conversations that were ended, so that the next turn begins a new one.
    ended: int

    @property
    def troubles(self) -> tuple[str, ...]:
        """Why conversations were left for later, each reason once."""
        return tuple(dict.fromkeys(one.trouble for one in self.outcomes if one.trouble))


def sweep(vault: Vault) -> Swept:
    """Consolidate what has fallen silent; run again, or after a crash, it does nothing twice."""
    idle = vault.consolidation.note_idle()
    outcomes = vault.consolidation.work()
    return Swept(owner=str(vault.owner), idle=idle, outcomes=tuple(outcomes), ended=vault.consolidation.end_idle())
