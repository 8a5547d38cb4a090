"""Shows the history of shells with a search, the accounts, and what user interfaces keep."""

import json

from starlette.responses import Response

from recollectum.doors.console.page_requests import ROOT, CurrentVisit, new_router

router = new_router()
PLACE = f"{ROOT}/state"
_PAGE = 50
_LONGEST = 1000


@router.get(PLACE)
def state(visit: CurrentVisit, q: str = "", before: str = "") -> Response:
    """Show the newest commands, or those that contain a text, and what else agents keep."""
    kept = visit.vault.state
    wanted = q[:_LONGEST]
    found = kept.history.list(text=wanted or None, cursor=before or None, limit=_PAGE)
    values = {
        "q": wanted,
        "commands": found,
        "more": found.next or "",
        "accounts": kept.accounts.list(),
        "interfaces": [
            (name, [(one.key, json.dumps(one.value, ensure_ascii=False)) for one in kept.interfaces.list(name)])
            for name in kept.interfaces.list_interfaces()
        ],
    }
    return visit.page("state.html", values)
