"""Puts proposals into the review inbox, and lists, approves and rejects them."""

import builtins
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, StepRefused
from recollectum.domain.ids import parse_enum
from recollectum.domain.memory import Memory
from recollectum.domain.notice import Notice
from recollectum.domain.page import Page, cut_page
from recollectum.domain.proposal import Decision, DecisionName, Finding, Proposal
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.learning import proposals
from recollectum.storage.tables.learning.proposals import NewProposal
from recollectum.text.terms.similarity import fingerprint
from recollectum.vault.gate import operation
from recollectum.vault.intake.admitted import AdmittedFinding, AdmittedText, stored_finding
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.kept_secrets import queue_secret_deletion
from recollectum.vault.review.reading import (
    get_proposal,
    is_held,
    is_stale,
    load_current_memories,
    load_page,
    to_readable,
    unified_diff_of,
)
from recollectum.vault.review.writing import ChangeContext, find_changeable, write_finding
from recollectum.vault.service import VaultService

_DIGEST_BYTES = 16


def finding_digest(finding: Finding) -> str:
    """Return a digest, equal for two findings with the same act, targets and text."""
    parts = (finding.act.value, fingerprint(finding.content), *sorted(finding.targets))
    return blake2b("\x1f".join(parts).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def enqueue(
    desk: ChangeContext,
    admitted: AdmittedFinding,
    targets: list[Memory],
    *,
    run_id: str | None = None,
    session_id: str | None = None,
) -> str | None:
    """Add a finding to the inbox; return its id, or None when it is there already or was rejected."""
    shown = replace(admitted.finding, targets=tuple(one.id for one in targets))
    laid = NewProposal(
        id=desk.runtime.ids("prp"),
        run_id=run_id,
        session_id=session_id,
        finding=shown,
        fingerprint=finding_digest(shown),
        versions={one.id: one.version for one in targets},
        at=desk.reading.now,
    )
    if proposals.add(desk.tx, laid):
        return laid.id
    queue_secret_deletion(desk.tx, shown.content, shown.reason)
    return None


def approve_proposal(desk: ChangeContext, proposal: Proposal, content: AdmittedText | None) -> Proposal:
    """Write a proposal; leave one that is decided already, and mark a stale one."""
    if proposal.decision is not Decision.WAITING:
        queue_secret_deletion(desk.tx, content or "")
        return to_readable(desk.tx, proposal, desk.reading)
    if is_held(desk.tx, proposal):
        raise StepRefused(
            f"proposal {proposal.id!r} comes from a quarantined source; release it first, or reject the proposal"
        )
    targets = _load_targets(desk, proposal)
    if targets is None:
        return _store_decision(desk, proposal, Decision.STALE)
    approved = stored_finding(proposal.finding).approved(content)
    written = write_finding(desk, approved, targets, run_id=proposal.run_id)
    return _store_decision(desk, proposal, Decision.APPROVED, written.memory.id)


def reject_proposal(desk: ChangeContext, proposal: Proposal) -> Proposal:
    """Reject a proposal for good; leave one that is decided already."""
    if proposal.decision is not Decision.WAITING:
        return to_readable(desk.tx, proposal, desk.reading)
    return _store_decision(desk, proposal, Decision.REJECTED)


def _load_targets(desk: ChangeContext, proposal: Proposal) -> list[Memory] | None:
    """Return the memories it changes, or None when one of them has changed."""
    found = [find_changeable(desk, target) for target in proposal.finding.targets]
    if is_stale(desk.tx, proposal, desk.reading):
        return None
    return [memory for memory in found if memory]


def _store_decision(
    desk: ChangeContext, proposal: Proposal, decision: Decision, memory_id: str | None = None
) -> Proposal:
    now, by = desk.reading.now, desk.runtime.actor
    proposals.decide(desk.tx, proposal.id, decision, at=now, by=by, memory_id=memory_id)
    return to_readable(desk.tx, get_proposal(desk.tx, proposal.id), desk.reading)


class Review(VaultService):
    """The review inbox of one vault."""

    @operation(Action.REVIEW_READ, Scope.USER)
    def list(
        self, *, decision: DecisionName = Decision.WAITING, cursor: str | None = None, limit: int = 50
    ) -> Page[Proposal]:
        """Return the newest proposals: waiting, approved, rejected, or stale."""
        wanted, size = parse_enum(Decision, decision, "decision"), check_limit(limit, MAX_PAGE)
        found = self._runtime.read(lambda tx, reading: load_page(tx, reading, wanted, before=cursor, limit=size + 1))
        return cut_page(found, size, lambda one: one.id)

    @operation(Action.REVIEW_READ, Scope.USER)
    def get(self, proposal_id: str) -> Proposal:
        """Return the proposal with that id; it is stale when a memory it is about has changed or is gone."""
        return self._runtime.read(lambda tx, reading: to_readable(tx, get_proposal(tx, proposal_id), reading))

    @operation(Action.REVIEW_READ, Scope.USER)
    def diff(self, proposal_id: str) -> builtins.list[str]:
        """Return what a proposal would change, as the lines of a unified diff."""
        return self._runtime.read(
            lambda tx, reading: unified_diff_of(tx, to_readable(tx, get_proposal(tx, proposal_id), reading))
        )

    @operation(Action.REVIEW_DECIDE, Scope.USER, reads=True, also=(Action.MEMORY_WRITE, Action.MEMORY_DELETE))
    def approve(self, proposal_id: str, content: str | None = None) -> Proposal:
        """Approve a proposal, in its own text or another; approving it twice writes it once."""

        def change(tx: Tx, reading: ClockReading, words: AdmittedText | None) -> Proposal:
            return approve_proposal(ChangeContext(tx, reading, self._runtime), get_proposal(tx, proposal_id), words)

        with Intake(self._runtime) as intake:
            words = None if content is None else intake.content(content)
            decided = self._runtime.write(lambda tx, reading: change(tx, reading, words))
            if decided.decision is not Decision.APPROVED:
                raise Conflict(_not_pending(decided))
            return replace(decided, notice=intake.notice)

    @operation(Action.REVIEW_DECIDE, Scope.USER, reads=True)
    def reject(self, proposal_id: str) -> Proposal:
        """Reject a proposal; the same one is never proposed again."""

        def change(tx: Tx, reading: ClockReading) -> Proposal:
            return reject_proposal(ChangeContext(tx, reading, self._runtime), get_proposal(tx, proposal_id))

        decided = self._runtime.write(change)
        if decided.decision is Decision.APPROVED:
            raise Conflict(_not_pending(decided))
        return decided

    @operation(Action.REVIEW_READ, Scope.USER)
    def analyse(self) -> builtins.list[Finding]:
        """Analyse all memories; return proposals to merge duplicates and to replace contradictions."""
        return self._analyse()

    @operation(Action.REVIEW_PROPOSE, Scope.USER, reads=True)
    def grow(self) -> builtins.list[Proposal]:
        """Add the proposals of such an analysis to the inbox, except those that are there or were rejected."""
        return self._propose(self._analyse())

    @operation(Action.REVIEW_PROPOSE, Scope.USER, reads=True)
    def propose(self, findings: Sequence[Finding]) -> builtins.list[Proposal]:
        """Add findings to the inbox, except those that are there, were rejected, or have no target."""
        return self._propose(findings)

    def _analyse(self) -> builtins.list[Finding]:
        # Imported here: only a person who tidies up needs it.
        from recollectum.distil.merge_proposals import analyse  # noqa: PLC0415

        return list(analyse(self._runtime.read(load_current_memories)))

    def _propose(self, findings: Sequence[Finding]) -> builtins.list[Proposal]:
        admitted: builtins.list[tuple[AdmittedFinding, Notice]] = []

        def change(tx: Tx, reading: ClockReading) -> builtins.list[Proposal]:
            desk = ChangeContext(tx, reading, self._runtime)
            laid = [(_enqueue_finding(desk, finding), notice) for finding, notice in admitted]
            found = [(get_proposal(tx, one), notice) for one, notice in laid if one]
            return [replace(to_readable(tx, one, reading), notice=notice) for one, notice in found]

        with Intake(self._runtime) as intake:
            for finding in findings:
                begun = intake.tally.mark()
                admitted.append((intake.finding(finding), intake.tally.notice(begun)))
            return self._runtime.write(change)


def _enqueue_finding(desk: ChangeContext, admitted: AdmittedFinding) -> str | None:
    wanted = admitted.finding.targets
    targets = [found for target in wanted if (found := find_changeable(desk, target))]
    return enqueue(desk, admitted, targets) if len(targets) == len(wanted) else None


def _not_pending(proposal: Proposal) -> str:
    if proposal.decision is Decision.STALE:
        return f"proposal {proposal.id!r} is stale: its memory has changed or is gone; nothing was written"
    return f"proposal {proposal.id!r} was {proposal.decision} already, and stays so"
