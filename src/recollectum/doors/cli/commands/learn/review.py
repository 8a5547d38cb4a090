"""`recollectum review`: decides proposals, and proposes merges of memories."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.ids import parse_enum
from recollectum.domain.proposal import Decision
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, listing, note, tell, working
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.domain.proposal import Proposal

app = new_group("List the proposals found in conversations, and approve or reject them.")
ProposalId = Annotated[str, typer.Argument(metavar="ID", help="The proposal's id.")]


@command(app, "list")
def list_proposals(
    run: Run,
    *,
    decision: Annotated[str, typer.Option(help="waiting, approved, rejected or stale.")] = "waiting",
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    before: Annotated[str | None, typer.Option(metavar="ID", help="Only those older than this one.")] = None,
) -> None:
    """List the newest proposals."""
    with open_user_vault(run) as vault:
        wanted = parse_enum(Decision, decision, "decision")
        found = vault.admin.review.list(decision=wanted, cursor=before, limit=limit)
    rows = [(one.id, one.finding.act, one.finding.kind, one.finding.trust, one.finding.content) for one in found]
    answer_rows(run, {"proposals": found}, ("id", "act", "kind", "trust", "content"), rows)
    if not found:
        note(f"no {decision} proposals")


@command(app, "show")
def show(run: Run, proposal_id: ProposalId) -> None:
    """Show one proposal, the texts it is based on, and what it would change."""
    with open_user_vault(run) as vault:
        proposal, diff = vault.admin.review.get(proposal_id), vault.admin.review.diff(proposal_id)
    lines = [*listing(_details(proposal)), "", *(visible(line) for line in diff)]
    answer(run, {"proposal": proposal, "diff": diff}, lines)


@command(app, "approve")
def approve(
    run: Run,
    proposal_id: ProposalId,
    *,
    edit: Annotated[str | None, typer.Option(metavar="TEXT", help="Save this text instead.")] = None,
) -> None:
    """Approve a proposal, in its own text or another."""
    with open_user_vault(run) as vault:
        proposal = vault.admin.review.approve(proposal_id, edit)
    answer(run, {"proposal": proposal, "notice": proposal.notice}, [proposal.memory_id or proposal.id])
    tell(proposal.notice)


@command(app, "reject")
def reject(run: Run, proposal_id: ProposalId) -> None:
    """Reject a proposal for good; the same one is never proposed again."""
    with open_user_vault(run) as vault:
        proposal = vault.admin.review.reject(proposal_id)
    answer(run, {"proposal": proposal}, [f"{proposal.id} {proposal.decision}"])


def _details(proposal: "Proposal") -> list[tuple[str, object]]:
    finding = proposal.finding
    return [
        ("id", proposal.id),
        ("decision", proposal.decision),
        ("act", finding.act),
        ("kind", finding.kind),
        ("trust", finding.trust),
        ("by", finding.by),
        ("reason", finding.reason or None),
        ("changes", ", ".join(finding.targets) or None),
        ("from", ", ".join(f"{span.message_id}[{span.start}:{span.end}]" for span in finding.spans) or None),
        ("memory", proposal.memory_id),
        ("made", proposal.created_at),
        ("decided", proposal.decided_at),
    ]


@command(app, "grow")
def grow(
    run: Run,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be proposed; save nothing.")] = False,
) -> None:
    """Propose to merge duplicate memories and to replace contradictory ones. You decide."""
    with open_user_vault(run) as vault, working(run, "comparing memories"):
        laid = [] if dry_run else vault.admin.review.grow()
        found = vault.admin.review.analyse() if dry_run else [one.finding for one in laid]
    ids = [one.id for one in laid] or [None] * len(found)
    rows = [(name, one.act, one.reason, one.content) for name, one in zip(ids, found, strict=True)]
    document = {"findings": found} if dry_run else {"proposals": laid}
    answer_rows(run, document, ("id", "act", "reason", "content"), rows)
    if not found:
        note("nothing to propose")
