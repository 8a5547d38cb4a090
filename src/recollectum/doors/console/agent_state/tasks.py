"""Shows the tasks of agent servers with their sizes and ages."""

from starlette.responses import Response

from recollectum.domain.page import Cursor
from recollectum.doors.console.page_requests import ROOT, CurrentVisit, new_router

router = new_router()
PLACE = f"{ROOT}/tasks"
_PAGE = 50


@router.get(PLACE)
def listed(visit: CurrentVisit, after: str = "") -> Response:
    """Show one page of the tasks."""
    found = visit.vault.tasks.list(limit=_PAGE, cursor=Cursor(after) if after else None)
    rows = [(one, f"{one.stored_bytes / 2**20:.1f} MiB") for one in found]
    total = f"{sum(one.stored_bytes for one in found) / 2**20:.1f} MiB"
    return visit.page("tasks.html", {"tasks": rows, "total": total, "more": found.next})
