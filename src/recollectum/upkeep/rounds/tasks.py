"""Does the work of each round in one vault; every task is idempotent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from recollectum.domain.session import Session
from recollectum.storage.tables.trail.sweeps import SweepState
from recollectum.upkeep.rounds.timing import AT_LATEST
from recollectum.vault.consolidation.job import ConsolidationOutcome
from recollectum.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """What one sweep did in one vault."""

    owner: str
    #: Conversations with words that nobody has read.
    idle: int
    outcomes: tuple[ConsolidationOutcome, ...]
    #: Conversations that were ended, so that the next turn begins a new one.
    ended: int

    @property
    def troubles(self) -> tuple[str, ...]:
        """Why conversations were left for later, each reason once."""
        return tuple(dict.fromkeys(one.trouble for one in self.outcomes if one.trouble))


def sweep(vault: Vault) -> SweepResult:
    """Consolidate what has fallen silent; run again, or after a crash, it does nothing twice."""
    idle = vault.admin.consolidation.note_idle()
    outcomes = vault.admin.consolidation.work()
    return SweepResult(
        owner=str(vault.owner), idle=idle, outcomes=tuple(outcomes), ended=vault.admin.consolidation.end_idle()
    )


_DAY = timedelta(days=1)
#: Conversations that are looked at for a summary in one round, newest first.
_SESSIONS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundContext:
    """When a round is made, and since when the vault was not looked at."""

    now: datetime
    every: timedelta
    #: None when it is looked at for the first time.
    since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    """What came of a round in one vault: counts, and never content."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    #: Why a part of it was left for later, in a sentence.
    trouble: str | None = None
    #: When the vault wants to be looked at although nobody writes to it.
    next_at: datetime | None = None
    #: The longest it may wait for that.
    latest: timedelta = AT_LATEST


Work: TypeAlias = Callable[[Vault, RoundContext], RoundResult]


def consolidate(vault: Vault, look: RoundContext) -> RoundResult:
    """Read the conversations that fell silent; as long as there are unread words, look again at every interval."""
    swept = sweep(vault)
    waiting = len(vault.admin.consolidation.unread(everything=True))
    read = sum(one.run is not None for one in swept.outcomes)
    return RoundResult(
        counts={"read": read, "ended": swept.ended, "waiting": waiting},
        trouble=swept.troubles[0] if swept.troubles else None,
        next_at=look.now + look.every if waiting else None,
    )


def summarise(vault: Vault, look: RoundContext) -> RoundResult:
    """Fold what a window no longer shows into the summaries of the conversations that go on."""
    made = 0
    for session in vault.sessions.page(limit=_SESSIONS):
        if not _goes_on(session, look.since):
            continue
        before = vault.sessions.summaries.find(session.id)
        after = vault.sessions.summaries.update(session.id)
        made += after is not None and (before is None or after.up_to > before.up_to)
    return RoundResult(counts={"summaries": made})


def _goes_on(session: Session, since: datetime | None) -> bool:
    # One that was brought in is not talked in, and a model is not asked about it unless somebody wants it.
    if session.imported or session.ended_at is not None:
        return False
    return since is None or session.updated_at >= since


def index(vault: Vault, look: RoundContext) -> RoundResult:  # noqa: ARG001 - every round has this shape
    """Give vectors to what has none, and build what a change of the model asks for."""
    return RoundResult(counts={"embedded": vault.admin.index.catch_up()})


def retain(vault: Vault, look: RoundContext) -> RoundResult:
    """Take the steps that time has made due; a vault with none until tomorrow is not looked at before."""
    counts: dict[str, int] = {}
    if vault.admin.lifecycle.preview():
        swept = vault.privacy.trash.sweep()
        counts = {"archived": swept.archived, "deleted": swept.deleted, "destroyed": swept.purged}
        if swept.state is SweepState.NEEDS_CONFIRMATION:
            counts["needs_confirmation"] = swept.waiting
        if not swept.erased:
            return RoundResult(counts=counts, next_at=look.now + look.every, latest=_DAY)
    # What waits for a person's yes is due all the time, and must not be swept all the time.
    moves = vault.admin.lifecycle.preview(look.now + _DAY)
    coming = [move.at for move in moves if move.at > look.now]
    held = look.now + look.every if vault.admin.clock().held else None
    return RoundResult(counts=counts, next_at=min(coming, default=held), latest=_DAY)
