"""Shows proposals with what they would change, and decides them."""

from typing import TYPE_CHECKING

from starlette.responses import Response

from recollectum.domain.errors import NotFound
from recollectum.domain.ids import parse_enum
from recollectum.domain.proposal import Act, Decision, Proposal
from recollectum.domain.records import dataclass
from recollectum.doors.console.page_requests import ROOT, CheckedForm, CurrentVisit, new_router
from recollectum.doors.console.text_diff import DiffPiece, diff_words

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

router = new_router()
PLACE = f"{ROOT}/review"
_PAGE = 20
TABS = ((Decision.WAITING, "Waiting"), (Decision.APPROVED, "Approved"), (Decision.REJECTED, "Rejected"))
ACTS = {
    Act.ADD: "New",
    Act.UPDATE: "Better wording",
    Act.SUPERSEDE: "No longer true",
    Act.MERGE: "Duplicate",
    Act.FORGET: "To be forgotten",
}


@dataclass(frozen=True, slots=True)
class ProposalView:
    """A proposal and what it would change."""

    proposal: Proposal
    act: str
    pieces: list[DiffPiece]
    #: The number of characters that the pieces have.
    size: int


@router.get(PLACE)
def listed(visit: CurrentVisit, decision: str = Decision.WAITING, before: str = "") -> Response:
    """Show the newest proposals with one decision."""
    wanted = parse_enum(Decision, decision, "decision")
    found = visit.vault.admin.review.list(decision=wanted, cursor=before or None, limit=_PAGE)
    values = {
        "tabs": [(one.value, name) for one, name in TABS],
        "decision": decision,
        "asked": [_proposal_view(visit.vault, one) for one in found],
        "more": found.next or "",
    }
    return visit.page("review.html", values)


@router.post(PLACE + "/grow")
def grow(visit: CurrentVisit, _: CheckedForm) -> Response:
    """Analyse all memories for duplicates and contradictions."""
    laid = visit.vault.admin.review.grow()
    told = f"{len(laid)} new to review." if laid else "Nothing new: no duplicates or contradictions were found."
    return visit.go(PLACE, told)


@router.post(PLACE + "/{proposal_id}/approve")
def approve(visit: CurrentVisit, proposal_id: str, sent: CheckedForm) -> Response:
    """Approve a proposal, in its own text or another."""
    words = sent.text("content").strip()
    proposed = visit.vault.admin.review.get(proposal_id).finding
    edited = words if words and words != proposed.content and proposed.act is not Act.FORGET else None
    approved = visit.vault.admin.review.approve(proposal_id, edited)
    return visit.go(PLACE, "Approved, in your words." if edited else "Approved.", approved.notice)


@router.post(PLACE + "/{proposal_id}/reject")
def reject(visit: CurrentVisit, proposal_id: str, _: CheckedForm) -> Response:
    """Reject a proposal for good."""
    visit.vault.admin.review.reject(proposal_id)
    return visit.go(PLACE, "Rejected. It is never proposed again.")


def _proposal_view(vault: "Vault", proposal: Proposal) -> ProposalView:
    finding = proposal.finding
    known = "\n".join(filter(None, (_content(vault, target) for target in finding.targets)))
    proposed = "" if finding.act is Act.FORGET else finding.content
    pieces = diff_words(known, proposed)
    return ProposalView(proposal, ACTS[finding.act], pieces, sum(len(one.text) for one in pieces))


def _content(vault: "Vault", memory_id: str) -> str:
    try:
        return vault.memories.get(memory_id).content
    except NotFound:
        return ""
