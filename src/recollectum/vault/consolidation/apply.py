"""Writes each finding of a consolidation, puts it into the review inbox, or drops it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from recollectum.domain.errors import InvalidInput
from recollectum.domain.memory import Memory
from recollectum.domain.message import Message
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.domain.trust import Trust, least_trusted
from recollectum.storage.tables.content import memories
from recollectum.storage.tables.learning import forgotten_spans, proposals
from recollectum.storage.tables.learning.runs import Effect
from recollectum.text.terms.similarity import fingerprint
from recollectum.vault.consolidation.snapshot import Snapshot
from recollectum.vault.files.projects import project_of_spans
from recollectum.vault.intake.admitted import AdmittedFinding
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.kept_secrets import queue_secret_deletion
from recollectum.vault.review.service import enqueue, finding_digest
from recollectum.vault.review.writing import ChangeContext, find_changeable, write_finding

#: Acts that always need a person's approval.
_NEEDS_REVIEW = frozenset({Act.MERGE, Act.FORGET})


class FindingOutcome(StrEnum):
    """What became of a finding."""

    ADDED = "added"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    RENEWED = "renewed"
    PROPOSED = "proposed"
    IGNORED = "ignored"


_OUTCOME_OF_ACT = {
    Act.ADD: FindingOutcome.ADDED,
    Act.UPDATE: FindingOutcome.UPDATED,
    Act.SUPERSEDE: FindingOutcome.SUPERSEDED,
    # Superseded by a memory that existed already.
    Act.MERGE: FindingOutcome.SUPERSEDED,
}


def apply_findings(
    desk: ChangeContext, snapshot: Snapshot, findings: Sequence[AdmittedFinding], run_id: str
) -> tuple[Counter[FindingOutcome], list[Effect]]:
    """Apply all findings in one transaction; return counts by outcome, and the effects on memories."""
    said = {message.id: message for message in snapshot.conversation}
    # Checked again: a memory may have been forgotten while the model was running.
    bars = forgotten_spans.of_session(desk.tx, snapshot.session.id)
    fates: Counter[FindingOutcome] = Counter()
    effects: list[Effect] = []
    for finding in findings:
        held = _with_trust(finding, said, snapshot)
        if held is None or _is_forgotten_span(held.finding, bars) or _was_forgotten(desk, held.finding, said):
            fate, effect = FindingOutcome.IGNORED, None
        else:
            fate, effect = _apply_finding(desk, held, snapshot, run_id)
        if fate is FindingOutcome.IGNORED:
            queue_secret_deletion(desk.tx, finding.content, finding.finding.reason)
        fates[fate] += 1
        if effect:
            effects.append(effect)
    return fates, effects


def admit_findings(intake: Intake, findings: Iterable[Finding]) -> tuple[list[AdmittedFinding], int]:
    """Admit the findings of a run before its transaction; return them and the number of rejected ones."""
    admitted: list[AdmittedFinding] = []
    refused = 0
    for finding in findings:
        try:
            Draft(content=finding.content, key=finding.key, kind=finding.kind, importance=finding.importance).check()
            admitted.append(intake.finding(finding))
        except InvalidInput:
            refused += 1
    return admitted, refused


def _with_trust(admitted: AdmittedFinding, said: Mapping[str, Message], snapshot: Snapshot) -> AdmittedFinding | None:
    """Return the finding with the trust of its sources; None when it cites text that was never said."""
    finding = admitted.finding
    if not finding.spans or not all(_is_said(span, said) for span in finding.spans):
        return None
    trust = least_trusted(finding.trust, *(said[span.message_id].trust for span in finding.spans))
    if snapshot.foreign:
        trust = least_trusted(trust, Trust.IMPORTED)
    certain = finding.certain and trust is Trust.OWNER and finding.act not in _NEEDS_REVIEW
    return admitted.trusted(trust, certain=certain)


def _is_said(span: Span, said: Mapping[str, Message]) -> bool:
    message = said.get(span.message_id)
    return message is not None and 0 <= span.start < span.end <= len(message.text)


def _is_forgotten_span(finding: Finding, bars: Sequence[Span]) -> bool:
    return any(
        span.message_id == bar.message_id and span.start < bar.end and bar.start < span.end
        for span in finding.spans
        for bar in bars
    )


def _was_forgotten(desk: ChangeContext, finding: Finding, said: Mapping[str, Message]) -> bool:
    """Return whether the same words were saved by hand and forgotten after they were said."""
    last = max(said[span.message_id].created_at for span in finding.spans)
    project = project_of_spans(desk.tx, finding.spans)
    gone = memories.deleted_alike(desk.tx, fingerprint(finding.content), finding.kind, project)
    return any(one.deleted_at is not None and one.deleted_at >= last for one in gone)


def _apply_finding(
    desk: ChangeContext, admitted: AdmittedFinding, snapshot: Snapshot, run_id: str
) -> tuple[FindingOutcome, Effect | None]:
    if proposals.is_rejected(desk.tx, finding_digest(admitted.finding)):
        return FindingOutcome.IGNORED, None
    aimed = _with_key_holder(desk, admitted)
    wanted = aimed.finding.targets
    targets = [found for target in wanted if (found := find_changeable(desk, target))]
    if len(targets) < len(wanted):
        # The target is gone; writing the finding anyway would bring back what somebody removed.
        return FindingOutcome.IGNORED, None
    if aimed.finding.certain and desk.runtime.gate.own and _unchanged(targets, snapshot):
        written = write_finding(desk, aimed, targets, agent=snapshot.session.key.agent, run_id=run_id)
        return (_OUTCOME_OF_ACT[written.effect.act] if written.effect else FindingOutcome.RENEWED), written.effect
    laid = enqueue(desk, aimed, targets, run_id=run_id, session_id=snapshot.session.id)
    return (FindingOutcome.PROPOSED if laid else FindingOutcome.IGNORED), None


def _with_key_holder(desk: ChangeContext, admitted: AdmittedFinding) -> AdmittedFinding:
    """Return the finding with the memory that holds its key as its target, when that memory says something else."""
    finding = admitted.finding
    holder = None
    if finding.act is Act.ADD and finding.key:
        holder = memories.find_by_key(desk.tx, finding.key, project_of_spans(desk.tx, finding.spans))
    if (
        holder is None
        or find_changeable(desk, holder.id) is None
        or fingerprint(holder.content) == fingerprint(finding.content)
    ):
        return admitted
    return admitted.aimed(Act.UPDATE, (holder.id,))


def _unchanged(targets: Sequence[Memory], snapshot: Snapshot) -> bool:
    """Return whether every target is unchanged since the model saw it."""
    seen = {one.id: one.version for one in snapshot.known}
    return all(seen.get(one.id) == one.version for one in targets)
