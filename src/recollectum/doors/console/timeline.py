"""Timeline: what was learned, changed and forgotten over time, and the last steps with a way back from each."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.responses import Response

from recollectum.domain.event import Event, EventType
from recollectum.domain.ids import is_id
from recollectum.doors.console.memories import title_of
from recollectum.doors.console.plotting import HEIGHT, WIDTH, Sort, Step, count, draw, spoken, stretches
from recollectum.doors.console.routing import new_router
from recollectum.doors.console.visiting import ROOT, Sent, Visit, Visiting

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
class Done:
    """One thing that was done, and whether it can be undone from here."""

    event: int
    at: datetime
    said: str
    actor: str
    memory_id: str | None
    text: str | None
    others: int
    undoable: bool


@router.get(PLACE)
def timeline(visit: Visiting, by: str = Step.DAY) -> Response:
    """The plot, the same as a table, and what was done last."""
    step = Step(by) if by in set(Step) else Step.DAY
    now = visit.vault.clock().now
    begins = datetime.combine(stretches(now, step)[0], datetime.min.time(), UTC)
    rows = count(_since(visit.vault, begins), now, step)
    values = {
        "by": step.value,
        "steps": [one.value for one in Step],
        "sorts": [one.value for one in Sort],
        "rows": [(spoken(row.begins, step), row) for row in reversed(rows) if row.total],
        "sums": {sort.value: sum(row.counts[sort] for row in rows) for sort in Sort},
        "plot": draw(rows, step),
        "width": WIDTH,
        "height": HEIGHT,
        "done": list(_done(visit)),
    }
    return visit.page("timeline.html", values)


@router.post(PLACE + "/undo")
def undo(visit: Visiting, sent: Sent) -> Response:
    """Take one step back; that is a step as well, and can be taken back in turn."""
    undone = visit.vault.undo.event(sent.number("event"))
    left = f" {undone.refused[0].why}." if undone.refused else ""
    return visit.go(PLACE, f"Undone.{left}")


def _since(vault: "Vault", begins: datetime) -> Iterator[Event]:
    before: int | None = None
    for _ in range(_MOST // _PAGE):
        page = vault.events.page(before=before, limit=_PAGE)
        for event in page:
            if event.at < begins:
                return
            yield event
        if len(page) < _PAGE:
            return
        before = page[-1].number


def _done(visit: Visit) -> Iterator[Done]:
    for step in visit.vault.undo.steps(_STEPS):
        subject = step.subjects[0] if step.subjects else ""
        memory_id = subject if is_id(subject, "mem") else None
        yield Done(
            event=step.event,
            at=step.at,
            said=SAID.get(step.type, step.type.value.replace("_", " ")),
            actor=step.actor,
            memory_id=memory_id,
            text=title_of(visit, memory_id) if memory_id else None,
            others=max(0, len(step.subjects) - 1),
            undoable=memory_id is not None and step.type is not EventType.PURGED,
        )
