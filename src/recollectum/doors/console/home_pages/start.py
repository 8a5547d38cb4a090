"""Shows a newcomer what to do first: connect an agent, import, add notes, write something down."""

from starlette.responses import Response

from recollectum.doors.console.page_requests import ROOT, CurrentVisit, new_router

router = new_router()
PLACE = f"{ROOT}/start"


@router.get(PLACE)
def start(visit: CurrentVisit) -> Response:
    """Show the first steps, each with its command."""
    return visit.page("start.html", {"totals": visit.vault.admin.totals()})
