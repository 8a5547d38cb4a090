"""Shows what was learned, changed and forgotten over time, and undoes steps."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.responses import Response

from recollectum.domain.event import Event, EventType
from recollectum.domain.ids import is_id
from recollectum.domain.records import dataclass
from recollectum.doors.console.memories import title_of
from recollectum.doors.console.page_requests import ROOT, CheckedForm, CurrentVisit, Visit, new_router
from recollectum.doors.console.timeline_plot import (
    HEIGHT,
    WIDTH,
    ChangeSort,
    TimeStep,
    count,
    describe_step,
    draw,
    step_starts,
)

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

router = new_router()
PLACE = f"{ROOT}/timeline"
_STEPS = 12
_PAGE = 1000
_MOST = 50_000
SAID = {
    EventType.CREATED: "learned",
    EventType.DEDUPLICATED: "heard again",
    EventType.EDITED: "changed",
    EventType.SUPERSEDED: "replaced",
    EventType.ARCHIVED: "archived",
    EventType.RESTORED: "restored",
    EventType.DELETED: "forgotten",
    EventType.PURGED: "destroyed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneStep:
    """One change, and whether it can be undone here."""

    event: int
    at: datetime
    said: str
    actor: str
    memory_id: str | None
    text: str | None
    others: int
    undoable: bool


@router.get(PLACE)
def timeline(visit: CurrentVisit, by: str = TimeStep.DAY) -> Response:
    """Show the plot, the same as a table, and the last changes."""
    step = TimeStep(by) if by in set(TimeStep) else TimeStep.DAY
    now = visit.vault.admin.clock().now
    zone = visit.reader.zone
    # Without a zone it is a time of the server's calendar, and becomes aware of its zone.
    begins = datetime.combine(step_starts(now, step, zone)[0], datetime.min.time(), zone).astimezone(zone)
    rows = count(_since(visit.vault, begins), now, step, zone)
    values = {
        "by": step.value,
        "steps": [one.value for one in TimeStep],
        "sorts": [one.value for one in ChangeSort],
        "rows": [(describe_step(row.begins, step), row) for row in reversed(rows) if row.total],
        "sums": {sort.value: sum(row.counts[sort] for row in rows) for sort in ChangeSort},
        "plot": draw(rows, step),
        "width": WIDTH,
        "height": HEIGHT,
        "done": list(_done_steps(visit)),
    }
    return visit.page("timeline.html", values)


@router.post(PLACE + "/undo")
def undo(visit: CurrentVisit, sent: CheckedForm) -> Response:
    """Undo one step; the undo is a step too, and can be undone."""
    undone = visit.vault.privacy.undo.event(sent.number("event"))
    left = f" {undone.refused[0].why}." if undone.refused else ""
    return visit.go(sent.text("back", PLACE), f"Undone.{left}")


def _since(vault: "Vault", begins: datetime) -> Iterator[Event]:
    cursor = None
    for _ in range(_MOST // _PAGE):
        page = vault.admin.events.list(cursor=cursor, limit=_PAGE)
        for event in page:
            if event.at < begins:
                return
            yield event
        cursor = page.next
        if cursor is None:
            return


def _done_steps(visit: Visit) -> Iterator[DoneStep]:
    for step in visit.vault.privacy.undo.list(limit=_STEPS):
        subject = step.subjects[0] if step.subjects else ""
        memory_id = subject if is_id(subject, "mem") else None
        yield DoneStep(
            event=step.event,
            at=step.at,
            said=SAID.get(step.type, step.type.value.replace("_", " ")),
            actor=step.actor,
            memory_id=memory_id,
            text=title_of(visit, memory_id) if memory_id else None,
            others=max(0, len(step.subjects) - 1),
            undoable=memory_id is not None and step.type is not EventType.PURGED,
        )
