"""Does the work of each round in one vault; every task is idempotent."""

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import TypeAlias

from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.storage.tables.trail.sweeps import SweepState
from recollectum.upkeep.rounds.timing import AT_LATEST
from recollectum.vault.consolidation.job import ConsolidationOutcome
from recollectum.vault.purge.request import PurgeState
from recollectum.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """The result of one sweep in one vault."""

    owner: str
    #: Conversations with unread messages.
    idle: int
    outcomes: tuple[ConsolidationOutcome, ...]
    #: Conversations that were ended, so that the next turn starts a new one.
    ended: int

    @property
    def troubles(self) -> tuple[str, ...]:
        """Why conversations were postponed, each reason once."""
        return tuple(dict.fromkeys(one.trouble for one in self.outcomes if one.trouble))


def sweep(vault: Vault) -> SweepResult:
    """Consolidate idle conversations; idempotent, also after a crash."""
    idle = vault.admin.consolidation.note_idle()
    outcomes = vault.admin.consolidation.work()
    return SweepResult(
        owner=str(vault.owner), idle=idle, outcomes=tuple(outcomes), ended=vault.admin.consolidation.end_idle()
    )


_DAY = timedelta(days=1)
#: Conversations that are checked for a summary in one round, newest first.
_SESSIONS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundContext:
    """The time of a round, and when the vault was last checked."""

    now: datetime
    every: timedelta
    #: None at the first check.
    since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    """The result of a round in one vault: counts, never content."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    #: Why a part was postponed, in a sentence.
    trouble: str | None = None
    #: When the vault must be checked although nobody writes to it.
    next_at: datetime | None = None
    #: The longest wait for that.
    latest: timedelta = AT_LATEST


Work: TypeAlias = Callable[[Vault, RoundContext], RoundResult]


def consolidate(vault: Vault, look: RoundContext) -> RoundResult:
    """Consolidate idle conversations; while messages are unread, check again at every interval."""
    swept = sweep(vault)
    waiting = len(vault.admin.consolidation.list_unread(everything=True))
    read = sum(one.run is not None for one in swept.outcomes)
    return RoundResult(
        counts={"read": read, "ended": swept.ended, "waiting": waiting},
        trouble=swept.troubles[0] if swept.troubles else None,
        next_at=look.now + look.every if waiting else None,
    )


def summarise(vault: Vault, look: RoundContext) -> RoundResult:
    """Summarise messages that have left the window of active conversations."""
    made = 0
    for session in vault.sessions.list(limit=_SESSIONS):
        if not _goes_on(session, look.since):
            continue
        before = vault.sessions.summaries.find(session.id)
        after = vault.sessions.summaries.update(session.id)
        made += after is not None and (before is None or after.up_to > before.up_to)
    return RoundResult(counts={"summaries": made})


def _goes_on(session: Session, since: datetime | None) -> bool:
    # Imported conversations do not go on, and a model is asked about them only on request.
    if session.imported or session.ended_at is not None:
        return False
    return since is None or session.updated_at >= since


def index(vault: Vault, look: RoundContext) -> RoundResult:  # noqa: ARG001 - every round has this shape
    """Embed chunks without vectors, and build the generation of a changed model."""
    return RoundResult(counts={"embedded": vault.admin.index.catch_up()})


def retain(vault: Vault, look: RoundContext) -> RoundResult:
    """Take the due life-cycle steps (retention); a vault with none until tomorrow is not checked before."""
    counts: dict[str, int] = {}
    _search_again(vault, look)
    if vault.admin.lifecycle.preview():
        swept = vault.privacy.trash.sweep()
        counts = {"archived": swept.archived, "deleted": swept.deleted, "destroyed": swept.purged}
        if swept.state is SweepState.NEEDS_CONFIRMATION:
            counts["needs_confirmation"] = swept.waiting
        if not swept.erased:
            return RoundResult(counts=counts, next_at=look.now + look.every, latest=_DAY)
    # Steps that wait for a person's consent are always due, and must not be swept all the time.
    moves = vault.admin.lifecycle.preview(look.now + _DAY)
    coming = [move.at for move in moves if move.at > look.now]
    held = look.now + look.every if vault.admin.clock().held else None
    return RoundResult(counts=counts, next_at=min(coming, default=held), latest=_DAY)


def sweep_tasks(vault: Vault, look: RoundContext) -> RoundResult:
    """Delete tasks of agent servers by age and number, and what interrupted saves have left in the task store."""
    swept = vault.tasks.run_retention()
    # A save of a task writes nothing into the vault, so the time alone decides.
    return RoundResult(counts={"tasks": len(swept.tasks), "leftovers": swept.leftovers}, next_at=look.now + look.every)


def _search_again(vault: Vault, look: RoundContext) -> None:
    """Continue purges whose receipt is not done, once a day: a file that could not be read may be gone by now."""
    receipts = vault.privacy.purge.list_receipts()
    waiting = [one for one in receipts if one.state is not PurgeState.DONE]
    if any(look.now - datetime.fromisoformat(one.at) >= _DAY for one in waiting):
        vault.privacy.purge.finish()
