"""Forgets, restores or erases the memories that were selected in a list, after a preview."""

from enum import StrEnum
from typing import TYPE_CHECKING

from starlette.responses import Response

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.ids import parse_enum
from recollectum.domain.memory import Memory, State
from recollectum.doors.console.memory_lists.filtering import MemoryFilter, find_memories
from recollectum.doors.console.page_requests import ROOT, CheckedForm, CurrentVisit, PostedForm, new_router
from recollectum.doors.console.privacy import show_preview
from recollectum.doors.console.rendering import plural
from recollectum.vault.purge.request import PurgeRequest

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

router = new_router()
PLACE = f"{ROOT}/memories"
#: How many memories one step changes, and how many of them the preview shows.
MOST = 1_000
_SHOWN = 20


class BulkAct(StrEnum):
    """What is done to the selected memories."""

    FORGET = "forget"
    RESTORE = "restore"
    ERASE = "erase"


@router.post(PLACE + "/bulk/preview")
def preview(visit: CurrentVisit, sent: CheckedForm) -> Response:
    """Show which memories would be changed; change nothing."""
    act = parse_enum(BulkAct, sent.text("act"), "act")
    wanted = MemoryFilter.parse(sent.text("state"), sent.text("kind"), sent.text("q"))
    chosen, more = _chosen(visit.vault, wanted, sent)
    if act is BulkAct.ERASE:
        return show_preview(visit, PurgeRequest.memories(*(one.id for one in chosen)))
    values = {
        "act": act.value,
        "chosen": chosen[:_SHOWN],
        "count": len(chosen),
        "ids": " ".join(one.id for one in chosen),
        "more": more,
        "most": MOST,
        "grace": visit.vault.admin.lifecycle.retention().grace.days,
        "listed": f"{PLACE}?{wanted.query()}",
    }
    return visit.page("bulk.html", values)


@router.post(PLACE + "/bulk")
def run(visit: CurrentVisit, sent: CheckedForm) -> Response:
    """Forget or restore the memories of a preview in one step, which can be undone as a whole."""
    act, ids = parse_enum(BulkAct, sent.text("act"), "act"), sent.text("ids").split()
    trash = visit.vault.privacy.trash
    if act is BulkAct.ERASE:
        raise InvalidInput("memories are erased on the page of a purge; choose them in the list again")
    done = trash.add(ids) if act is BulkAct.FORGET else trash.restore(memory_ids=ids)
    verb = "forgotten" if act is BulkAct.FORGET else "restored"
    told = f"{plural(len(done.memories), 'memory')} {verb}." if done.memories else "Nothing was changed."
    if done.left:
        told += f" {plural(len(done.left), 'memory')} left as before: {done.left[0].why}."
    return visit.go(sent.text("back", PLACE), told, undo=done.event)


def _chosen(vault: "Vault", wanted: MemoryFilter, sent: PostedForm) -> tuple[list[Memory], bool]:
    """Return the memories that were ticked, or all that the filter finds, and whether there are more of them."""
    if sent.text("all"):
        found = find_memories(vault, wanted, before=None, limit=MOST)
        chosen, more = found.memories, found.next is not None
    else:
        ids = sent.every("id")
        chosen, more = _get_all(vault, ids, wanted.state), False
    if not chosen:
        raise InvalidInput("no memory is selected; tick the box of at least one, or choose all that match")
    return chosen, more


def _get_all(vault: "Vault", ids: list[str], state: State) -> list[Memory]:
    if state is State.SOFT_DELETED:
        wanted = set(ids)
        return [one for one in vault.privacy.trash.list() if one.id in wanted]
    found: list[Memory] = []
    for memory_id in dict.fromkeys(ids):
        try:
            found.append(vault.memories.get(memory_id))
        except NotFound:
            # Forgotten since the list was shown; the preview shows what is left.
            continue
    return found
