"""Deciding about a proposal: once, and only while it still says something about what is there."""

from dataclasses import replace

from recollectum.domain.errors import StepRefused
from recollectum.domain.memory import Memory
from recollectum.domain.proposal import Decision, Proposal
from recollectum.storage.tables import proposals
from recollectum.vault.review_reading import as_read, is_held, is_stale, stored
from recollectum.vault.review_writing import Desk, standing, write


def approve(desk: Desk, proposal: Proposal, content: str | None) -> Proposal:
    """Write what is proposed; one that waits no more is left as it is, and a stale one is marked."""
    if proposal.decision is not Decision.WAITING:
        return as_read(desk.tx, proposal, desk.reading)
    if is_held(desk.tx, proposal):
        raise StepRefused(
            f"proposal {proposal.id!r} came from what is in quarantine; release that first, or reject the proposal"
        )
    targets = _targets(desk, proposal)
    if targets is None:
        return _decided(desk, proposal, Decision.STALE)
    # Approved is not the same as certain: it is the person's word now, not the message's.
    finding = replace(proposal.finding, content=content or proposal.finding.content, certain=False)
    written = write(desk, finding, targets, run_id=proposal.run_id)
    return _decided(desk, proposal, Decision.APPROVED, written.memory.id)


def reject(desk: Desk, proposal: Proposal) -> Proposal:
    """Say no for good; one that waits no more is left as it is."""
    if proposal.decision is not Decision.WAITING:
        return as_read(desk.tx, proposal, desk.reading)
    return _decided(desk, proposal, Decision.REJECTED)


def _targets(desk: Desk, proposal: Proposal) -> list[Memory] | None:
    """The memories it changes, or None when one of them is not what it was."""
    found = [standing(desk, target) for target in proposal.finding.targets]
    if is_stale(desk.tx, proposal, desk.reading):
        return None
    return [memory for memory in found if memory]


def _decided(desk: Desk, proposal: Proposal, decision: Decision, memory_id: str | None = None) -> Proposal:
    now, by = desk.reading.now, desk.footing.actor
    proposals.decide(desk.tx, proposal.id, decision, at=now, by=by, memory_id=memory_id)
    return as_read(desk.tx, stored(desk.tx, proposal.id), desk.reading)
