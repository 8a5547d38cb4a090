"""Shows the context that an agent would get now, the cost of each part, and what was left out."""

from collections.abc import Sequence

from starlette.responses import Response

from recollectum.domain.context import Ledger, PartKind
from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.doors.console.page_requests import ROOT, CurrentVisit, new_router
from recollectum.doors.console.rendering import shown

router = new_router()
PLACE = f"{ROOT}/context"
_WIDTH = 1000
_LEAST, _MOST = 50, 1_000_000
_SESSIONS = 50
NAMES = {
    PartKind.NOTES: "global notes",
    PartKind.PROFILE: "profile",
    PartKind.LEARNING: "learnings",
    PartKind.MEMORY: "recalled",
    PartKind.SUMMARY: "summary",
    PartKind.MESSAGE: "conversation",
    PartKind.LAYOUT: "layout",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of the bar, in thousandths of its length."""

    kind: str
    name: str
    x: int
    width: int
    tokens: int
    items: int


@router.get(PLACE)
def context(visit: CurrentVisit, q: str = "", session: str = "", tokens: str = "") -> Response:
    """Show the context for a query, a conversation and a budget."""
    usual = visit.operator.settings.context.tokens
    made = visit.vault.context(q.strip()[:2000], session_id=session or None, tokens=_budget(tokens, usual))
    values = {
        "q": q.strip()[:2000],
        "session": session,
        "tokens": made.budget.tokens,
        "sessions": visit.vault.sessions.list(limit=_SESSIONS),
        "made": made,
        "whole": shown(made.whole),
        "ledger": made.ledger,
        "segments": segments(made.ledger),
        "names": NAMES,
        "width": _WIDTH,
    }
    return visit.page("context.html", values)


def segments(ledger: Ledger) -> Sequence[Segment]:
    """Return the ledger as a bar whose whole length is the budget."""
    whole = max(ledger.budget.tokens, ledger.total, 1)
    found: list[Segment] = []
    spent = 0
    for part in ledger.parts:
        x, end = _WIDTH * spent // whole, _WIDTH * (spent + part.tokens) // whole
        name = NAMES[part.kind]
        found.append(Segment(part.kind.value, name, x, end - x, part.tokens, len(part.ids)))
        spent += part.tokens
    return found


def _budget(text: str, usual: int) -> int:
    given = text.strip().replace(",", "")
    if not given:
        return usual
    if not given.isascii() or not given.isdigit() or not _LEAST <= int(given[:9]) <= _MOST:
        raise InvalidInput(f"the budget must be a whole number from {_LEAST} to {_MOST}")
    return int(given[:9])
