"""Shows the extensions of the home: their states, and what each may do."""

from starlette.responses import Response

from recollectum.domain.files.extension import ExtensionState
from recollectum.doors.console.page_requests import ROOT, CurrentVisit, new_router
from recollectum.policy.actions import Action

router = new_router()
PLACE = f"{ROOT}/extensions"
#: The colour of each state.
_DOTS = {
    ExtensionState.ENABLED: "fine",
    ExtensionState.DISABLED: "off",
    ExtensionState.UNTRUSTED: "note",
    ExtensionState.CHANGED: "warning",
    ExtensionState.BROKEN: "problem",
}
_WORDS = {
    ExtensionState.ENABLED: "Enabled",
    ExtensionState.DISABLED: "Disabled: it has no effect here.",
    ExtensionState.UNTRUSTED: "Nobody has agreed to it, so it has no effect.",
    ExtensionState.CHANGED: "A file is not what was agreed to, so it has no effect.",
    ExtensionState.BROKEN: "It cannot be used, so it has no effect.",
}


@router.get(PLACE)
def extensions(visit: CurrentVisit) -> Response:
    """List the extensions; their places are shown only if no other person is in the home."""
    # The list belongs to the home, and the rules about it are for this person.
    visit.recollectum.extensions.gate.check_rules(Action.EXTENSION_READ)
    operator = visit.operator
    values = {
        "extensions": operator.extensions.list(),
        "dots": _DOTS,
        "words": _WORDS,
        "places": len(operator.people.list()) <= 1,
    }
    return visit.page("extensions.html", values)
