"""Memories: by state, one at a time with its history, and every change a person may make to one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import Response

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.memory import Kind, Memory, State, Version
from recollectum.doors.console.differing import Piece, differ
from recollectum.doors.console.origins import origins_of
from recollectum.doors.console.routing import new_router
from recollectum.doors.console.visiting import ROOT, Sent, Visit, Visiting

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

router = new_router()
PLACE = f"{ROOT}/memories"
TABS = ((State.ACTIVE, "Active"), (State.ARCHIVED, "Archived"), (State.SOFT_DELETED, "Trash"))
_PAGE = 30


@dataclass(frozen=True, slots=True)
class Told:
    """One version of a memory, and how it differs from the one before."""

    version: Version
    pieces: list[Piece]


@router.get(PLACE)
def listed(visit: Visiting, state: str = State.ACTIVE, kind: str = "", before: str = "") -> Response:
    """The newest memories in one state."""
    vault = visit.vault
    found = vault.memories.page(state=state, kind=kind or None, before=before or None, limit=_PAGE + 1)
    shown = found[:_PAGE]
    more = urlencode({"state": state, "kind": kind, "before": shown[-1].id}) if len(found) > _PAGE else ""
    counts = vault.totals().memories
    values = {
        "tabs": [(one.value, name, counts.get(one, 0)) for one, name in TABS],
        "state": state,
        "kind": kind,
        "kinds": [one.value for one in Kind],
        "memories": shown,
        "more": more,
        "before": before,
    }
    return visit.page("memories.html", values)


@router.post(PLACE)
def remember(visit: Visiting, sent: Sent) -> Response:
    """Write something down by hand."""
    made = visit.vault.memories.save(sent.text("content"), kind=sent.text("kind", Kind.FACT))
    return visit.go(f"{PLACE}/{made.id}", "Remembered.")


@router.get(PLACE + "/{memory_id}")
def one(visit: Visiting, memory_id: str) -> Response:
    """One memory: what it says, what it said, and where it came from."""
    vault = visit.vault
    memory = find(vault, memory_id)
    live = memory.state is not State.SOFT_DELETED
    history = vault.memories.history(memory_id) if live else None
    values = {
        "memory": memory,
        "kinds": [one.value for one in Kind],
        "versions": _told(history.versions) if history else [],
        "events": list(reversed(history.events if history else vault.events.of(memory_id))),
        "origins": origins_of(vault, memory) if live else [],
    }
    return visit.page("memory.html", values)


@router.post(PLACE + "/{memory_id}/edit")
def edit(visit: Visiting, memory_id: str, sent: Sent) -> Response:
    """Say it in other words; what it said before is kept."""
    visit.vault.memories.edit(
        memory_id,
        sent.text("content"),
        kind=sent.text("kind") or None,
        importance=_importance(sent.text("importance")),
        version=sent.number("version"),
    )
    return visit.go(f"{PLACE}/{memory_id}", "Changed. What it said before stands in its history.")


@router.post(PLACE + "/{memory_id}/archive")
def archive(visit: Visiting, memory_id: str, _: Sent) -> Response:
    """Lay a memory aside."""
    visit.vault.memories.move(memory_id, State.ARCHIVED)
    return visit.go(f"{PLACE}/{memory_id}", "Archived. It is kept, and no longer given to agents.")


@router.post(PLACE + "/{memory_id}/forget")
def forget(visit: Visiting, memory_id: str, _: Sent) -> Response:
    """Forget a memory; it waits in the trash until its grace window ends."""
    visit.vault.memories.forget(memory_id)
    return visit.go(f"{PLACE}/{memory_id}", "Forgotten. No agent is told it any more.")


@router.post(PLACE + "/{memory_id}/restore")
def restore(visit: Visiting, memory_id: str, _: Sent) -> Response:
    """Bring a memory back."""
    visit.vault.memories.restore(memory_id)
    return visit.go(f"{PLACE}/{memory_id}", "Restored.")


def find(vault: "Vault", memory_id: str) -> Memory:
    """The memory, also when it lies in the trash."""
    try:
        return vault.memories.get(memory_id)
    except NotFound:
        for found in vault.trash.find():
            if found.id == memory_id:
                return found
        raise


def title_of(visit: Visit, memory_id: str) -> str | None:
    """What a memory says, when it is there to be seen."""
    try:
        return visit.vault.memories.get(memory_id).content
    except NotFound:
        return None


def _told(versions: tuple[Version, ...]) -> list[Told]:
    """The newest first."""
    before = ("", *(one.content for one in versions))
    pairs = zip(before, versions, strict=False)
    return [Told(one, differ(old, one.content) if old else []) for old, one in pairs][::-1]


def _importance(text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("the importance must be a number from 0 to 1") from None
