"""Health: whether everything is as it should be, how far the index is, and what runs by itself."""

from pathlib import Path

from starlette.responses import Response

from recollectum.doors.console.routing import new_router
from recollectum.doors.console.visiting import ROOT, Visit, Visiting
from recollectum.upkeep.doctor import examine
from recollectum.upkeep.doctor_finding import Finding, Severity, worst
from recollectum.upkeep.rounds_reading import Round, rounds_now

router = new_router()
PLACE = f"{ROOT}/health"
#: A larger vault is examined when somebody asks for it: to read all of it takes a while.
_QUICK = 64 * 2**20
#: What concerns everybody in a home; the rest names files of others.
_SHARED_TOPICS = frozenset({"key", "recovery code", "disk", "disk reserve", "backup", "clock", "telemetry"})
HEADINGS = {
    Severity.FINE: "All is well",
    Severity.NOTE: "All is well, with a remark",
    Severity.WARNING: "Something should be done",
    Severity.PROBLEM: "Something is broken",
}


@router.get(PLACE)
def health(visit: Visiting, doctor: str = "") -> Response:
    """The doctor's findings, the index, and the work that waits or failed."""
    file = visit.recollectum.file_of(visit.vault.owner)
    looked = bool(doctor) or file is None or _size(file) <= _QUICK
    found = findings(visit) if looked else []
    values = {
        "looked": looked,
        "heading": HEADINGS[worst(found)] if looked else "Not looked at yet",
        "severity": worst(found).value if looked else "note",
        "findings": found,
        "index": visit.vault.index.status(),
        "check": visit.vault.index.verify(),
        "reading": visit.vault.clock(),
        "jobs": visit.vault.consolidation.jobs(limit=10),
        "rounds": rounds(visit),
    }
    return visit.page("health.html", values)


def findings(visit: Visit) -> list[Finding]:
    """What the doctor says of this person's vault; of the home only what is nobody else's, unless one lives alone."""
    operator, owner = visit.operator, visit.vault.owner
    found = examine(
        operator.grounds(), lambda one: operator.vault(one, create=False).clock(), owners=[owner], fix=False
    )
    if len(operator.people.all()) <= 1:
        return found
    return [one for one in found if one.topic in _SHARED_TOPICS or str(owner) in one.topic]


def rounds(visit: Visit) -> list[Round]:
    """Each round as it went in this vault, or in the home where it has no part for each vault."""
    made = rounds_now(visit.operator)
    mine = {one.name: one for one in made if one.owner == str(visit.vault.owner)}
    return [mine.get(one.name, one) for one in made if one.owner is None]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
