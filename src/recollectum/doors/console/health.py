"""Shows the doctor's findings, the state of the index, and background work."""

from starlette.responses import Response

from recollectum.doors.console.page_requests import ROOT, CurrentVisit, Visit, new_router
from recollectum.upkeep.doctor.examination import examine
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity, worst
from recollectum.upkeep.rounds.status import RoundStatus, list_rounds

router = new_router()
PLACE = f"{ROOT}/health"
#: A larger vault is checked only on request, because reading all of it takes a while.
_QUICK = 64 * 2**20
#: The checks that concern everybody in a home; the others name files of other people.
_SHARED_TOPICS = frozenset({"key", "recovery code", "disk", "disk reserve", "backup", "clock", "telemetry"})
HEADINGS = {
    Severity.FINE: "All is well",
    Severity.NOTE: "All is well",
    Severity.WARNING: "Something should be done",
    Severity.PROBLEM: "Something is broken",
}

_WORST_FIRST = (Severity.PROBLEM, Severity.WARNING, Severity.NOTE, Severity.FINE)


@router.get(PLACE)
def health(visit: CurrentVisit, doctor: str = "") -> Response:
    """Show the doctor's findings, the index, and waiting or failed work."""
    place = visit.recollectum.vault_place(visit.vault.owner)
    looked = bool(doctor) or place is None or place.bytes <= _QUICK
    found = sorted(findings(visit), key=lambda one: _WORST_FIRST.index(one.severity)) if looked else []
    worst_of_all = worst(found)
    values = {
        "looked": looked,
        "heading": HEADINGS[worst_of_all] if looked else "Not checked yet",
        "severity": worst_of_all.value if looked else "note",
        "remarks": sum(one.severity is Severity.NOTE for one in found) if worst_of_all is Severity.NOTE else 0,
        "findings": found,
        "index": visit.vault.admin.index.status(),
        "check": visit.vault.admin.index.verify() if looked else None,
        "reading": visit.vault.admin.clock(),
        "jobs": visit.vault.admin.consolidation.list_jobs(limit=10),
        "rounds": rounds(visit),
    }
    return visit.page("health.html", values)


def findings(visit: Visit) -> list[HealthFinding]:
    """Return the doctor's findings about this person's vault; those about the home only if no other person is in it."""
    operator, owner = visit.operator, visit.vault.owner
    found = examine(
        operator.admin,
        lambda one: operator.vault(one, create=False).admin.clock(),
        operator.settings,
        owners=[owner],
        fix=False,
    )
    if len(operator.people.list()) <= 1:
        return found
    return [one for one in found if one.topic in _SHARED_TOPICS or str(owner) in one.topic]


def rounds(visit: Visit) -> list[RoundStatus]:
    """Return each round in this vault, or in the home if it does not run per vault."""
    made = list_rounds(visit.operator)
    mine = {one.name: one for one in made if one.owner == str(visit.vault.owner)}
    return [mine.get(one.name, one) for one in made if one.owner is None]
