"""Loads proposals as a reader may see them: marked when stale, withheld when their source is gone."""

from dataclasses import replace

from recollectum.domain.errors import NotFound
from recollectum.domain.memory import Memory, State
from recollectum.domain.proposal import Act, Decision, Proposal
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import LIVE, is_current, state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, memory_pages
from recollectum.storage.tables.learning import proposals
from recollectum.storage.tables.trail import quarantines

_STEP = 200
_MAX_KNOWN = 100_000


def load_current_memories(tx: Tx, reading: ClockReading) -> list[Memory]:
    """Return every active memory that is not superseded."""
    newest = memory_pages.page(tx, State.ACTIVE, reading, limit=_MAX_KNOWN)
    return [memory for memory in newest if is_current(memory, reading)]


def get_proposal(tx: Tx, proposal_id: str) -> Proposal:
    """Return the proposal with that id, as stored."""
    proposal = proposals.find(tx, proposal_id)
    if proposal is None:
        raise NotFound(f"there is no proposal {proposal_id!r} in this vault")
    return proposal


def to_readable(tx: Tx, proposal: Proposal, reading: ClockReading) -> Proposal:
    """Return the proposal in its current state."""
    about = (*proposal.finding.targets, *([proposal.memory_id] if proposal.memory_id else ()))
    if proposal.finding.act is not Act.FORGET and not all(_is_live(tx, one, reading) for one in about):
        # It repeats a text that somebody forgot.
        proposal = replace(proposal, finding=replace(proposal.finding, content="", reason=""))
    if is_held(tx, proposal):
        proposal = replace(proposal, finding=replace(proposal.finding, content="", reason=""))
    if proposal.decision is Decision.WAITING and is_stale(tx, proposal, reading):
        return replace(proposal, decision=Decision.STALE)
    return proposal


def is_held(tx: Tx, proposal: Proposal) -> bool:
    """Return whether it is waiting and one of its sources is in quarantine; decided proposals are unaffected."""
    came_from = {span.message_id for span in proposal.finding.spans}
    return proposal.decision is Decision.WAITING and bool(quarantines.aside(tx, came_from))


def is_stale(tx: Tx, proposal: Proposal, reading: ClockReading) -> bool:
    """Return whether a target changed since the proposal was made."""
    then = proposals.versions(tx, proposal.id)
    return any(not _is_unchanged(memories.find(tx, target), version, reading) for target, version in then.items())


def load_page(tx: Tx, reading: ClockReading, wanted: Decision, *, before: str | None, limit: int) -> list[Proposal]:
    """Return the newest proposals before an id that have one decision for a reader."""
    kept: list[Proposal] = []
    # A waiting proposal reads as stale when a memory that it is about has changed.
    stored = {Decision.STALE, Decision.WAITING} if wanted is Decision.STALE else {wanted}
    while len(kept) < limit:
        found = proposals.page(tx, before=before, limit=_STEP, decisions=stored)
        seen = (to_readable(tx, one, reading) for one in found if not is_held(tx, one))
        kept.extend(one for one in seen if one.decision is wanted)
        if len(found) < _STEP:
            break
        before = found[-1].id
    return kept[:limit]


def unified_diff_of(tx: Tx, proposal: Proposal) -> list[str]:
    """Return what a proposal would change, line by line."""
    # Imported here: only a person who decides needs it.
    from difflib import unified_diff  # noqa: PLC0415

    known = [found.content for target in proposal.finding.targets if (found := memories.find(tx, target))]
    # A proposal whose text is withheld must not show its target's text either.
    old = [line for text in known for line in text.splitlines()] if _shows_text(proposal) else []
    new = proposal.finding.content.splitlines() if proposal.finding.act is not Act.FORGET else []
    return list(unified_diff(old, new, "known", "proposed", lineterm=""))


def _shows_text(proposal: Proposal) -> bool:
    return bool(proposal.finding.content) or proposal.finding.act is Act.FORGET


def _is_live(tx: Tx, memory_id: str, reading: ClockReading) -> bool:
    memory = memories.find(tx, memory_id)
    return memory is not None and state_at(memory, reading) in LIVE


def _is_unchanged(memory: Memory | None, version: int, reading: ClockReading) -> bool:
    return memory is not None and memory.version == version and is_current(memory, reading)
