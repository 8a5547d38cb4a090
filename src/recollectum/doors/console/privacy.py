"""Shows what is stored and who could read it, exports it, and erases it."""

import hmac
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.memory import State
from recollectum.domain.page import every
from recollectum.doors.console.page_requests import (
    ROOT,
    CheckedForm,
    CurrentVisit,
    PostedForm,
    Visit,
    new_router,
    theme_of,
)
from recollectum.doors.console.rendering import plural, render
from recollectum.doors.json_values import to_json
from recollectum.home.keys.holders import HolderKind
from recollectum.vault.purge.request import IMPORTED, PurgeKind, PurgeRequest, PurgeState, Receipt
from recollectum.vault.vault import Vault

if TYPE_CHECKING:
    from recollectum.settings.model import Settings

_PAGE = 500
_STATES = (State.ACTIVE, State.ARCHIVED, State.SOFT_DELETED)


def export_lines(vault: Vault) -> Iterator[bytes]:
    """Yield a header, then every memory with its versions, every conversation with its messages, and the events."""
    yield _line("vault", {"owner": vault.owner, "at": vault.admin.clock().now, "form": 1})
    yield from _memories(vault)
    yield from _sessions(vault)
    for event in every(lambda cursor: vault.admin.events.list(cursor=cursor, limit=_PAGE)):
        yield _line("event", event)


def _memories(vault: Vault) -> Iterator[bytes]:
    for state in _STATES:
        for memory in every(lambda cursor, state=state: vault.memories.list(state=state, cursor=cursor, limit=_PAGE)):
            past = vault.memories.history(memory.id).versions[:-1] if state is not State.SOFT_DELETED else ()
            yield _line("memory", memory)
            yield from (_line("version", one) for one in past)


def _sessions(vault: Vault) -> Iterator[bytes]:
    for session in every(lambda cursor: vault.sessions.list(cursor=cursor, limit=_PAGE)):
        yield _line("session", session)
        chat = vault.sessions.chat(session.id)
        for said in every(lambda cursor, chat=chat: chat.transcript(cursor=cursor, limit=_PAGE)):
            yield _line("message", said)


def _line(sort: str, value: object) -> bytes:
    return json.dumps({"type": sort, sort: to_json(value)}).encode() + b"\n"


router = new_router()
PLACE = f"{ROOT}/privacy"
_HERE = frozenset({"none", "local", "auto", "scripted"})
#: The word to type before single items are erased; before everything is erased, it is the person's name.
WORD = "erase"
WHAT = {
    PurgeKind.USER: "Everything about you: memories, conversations, keys, and your name itself.",
    PurgeKind.SESSION: "Whole conversations, and memories learned only from them.",
    PurgeKind.SOURCE: "Everything from one source, which is then unfollowed.",
    PurgeKind.OLDER_THAN: "Everything last changed more than a number of days ago.",
    PurgeKind.MEMORY: "Single memories with all their versions.",
    PurgeKind.PROJECT: "Everything of a project: its memories, conversations, shell commands and name.",
    PurgeKind.RESTORED: "Erased data that came back with an older copy.",
}


@router.get(PLACE)
def privacy(visit: CurrentVisit) -> Response:
    """Show what is stored and who can read it, with export and erasure."""
    holder = visit.operator.encryption().holder()
    place = visit.recollectum.vault_place(visit.vault.owner)
    settings, folders = visit.operator.settings, visit.vault.admin.notes.list_folders()
    values = {
        "totals": visit.vault.admin.totals(),
        "folders": folders,
        "notes": sum(one.notes for one in folders),
        "places": visit.vault.admin.transcripts.list(),
        "file": place.words if place else None,
        "bytes": place.bytes if place else 0,
        "encrypted": holder.kind is not HolderKind.OFF,
        "holder": holder,
        "elsewhere": outgoing_data(settings),
        "retention": visit.vault.admin.lifecycle.retention(),
        "receipts": list(reversed(visit.vault.privacy.purge.list_receipts())),
        "what": {kind.value: words for kind, words in WHAT.items()},
    }
    return visit.page("privacy.html", values)


@router.get(PLACE + "/export")
def export(visit: CurrentVisit) -> Response:
    """Export everything as a file; refuse it as a whole, before its first line, when a rule denies a part."""
    vault = visit.vault
    for first_read in (vault.memories.list, vault.sessions.list, vault.admin.events.list):
        first_read(limit=1)
    headers = {"content-disposition": f'attachment; filename="recollectum-{visit.signed.person.name}.jsonl"'}
    return StreamingResponse(export_lines(vault), media_type="application/x-ndjson", headers=headers)


@router.post(PLACE + "/preview")
def preview(visit: CurrentVisit, sent: CheckedForm) -> Response:
    """Show what would be erased; change nothing."""
    return show_preview(visit, _request(sent))


@router.post(PLACE + "/erase")
def erase(visit: CurrentVisit, sent: CheckedForm) -> Response:
    """Erase what the preview showed, after the person typed the word; show the receipt."""
    request = _request(sent)
    if not hmac.compare_digest(sent.text("typed").strip().encode(), _word(visit, request.kind).encode()):
        return show_preview(visit, request, "Nothing was erased: the typed word does not match.")
    receipt = visit.vault.privacy.purge.run(sent.text("token"))
    if receipt.kind is not PurgeKind.USER:
        searched = receipt.state is PurgeState.DONE
        told = (
            "Erased, and every file was searched for what was left." if searched else "Erased; see what is left to do."
        )
        return visit.go(f"{PLACE}/receipts/{receipt.id}", told)
    # The person and all their sessions are gone; this is the last page.
    visit.desk.end_all(visit.signed.person)
    return _farewell(visit, receipt)


@router.get(PLACE + "/receipts/{receipt_id}")
def receipt(visit: CurrentVisit, receipt_id: str, form: str = "") -> Response:
    """Show the receipt of one purge, or download it."""
    found = next((one for one in visit.vault.privacy.purge.list_receipts() if one.id == receipt_id), None)
    if found is None:
        raise NotFound(f"this vault has no receipt {receipt_id!r}")
    if form == "json":
        text = json.dumps({"receipt": to_json(found)}, indent=2)
        headers = {"content-disposition": f'attachment; filename="{found.id}.json"'}
        return Response(text, media_type="application/json", headers=headers)
    return visit.page("receipt.html", {"receipt": found, "what": WHAT[found.kind]})


def outgoing_data(settings: "Settings") -> list[str]:
    """Return what leaves this machine, and to whom; empty when nothing does."""
    vectors, model = settings.embedding, settings.language_model
    told: list[str] = []
    if vectors.provider not in _HERE:
        told.append(
            f"Every text that is indexed goes to {vectors.provider} ({_address(vectors.base_url)}) for vectors."
        )
    if model.provider not in _HERE:
        told.append(f"Conversations that are read go to {model.provider} ({_address(model.base_url)}).")
    return told


def _address(url: str) -> str:
    return url or "its default address"


def show_preview(visit: Visit, request: PurgeRequest, trouble: str = "") -> Response:
    """Show what a purge would erase, with the form that runs it."""
    seen = visit.vault.privacy.purge.preview(request)
    what = WHAT[request.kind]
    if request.days:
        what = f"Everything last changed more than {plural(request.days, 'day')} ago."
    return visit.page(
        "purge.html", {"seen": seen, "what": what, "word": _word(visit, request.kind), "trouble": trouble}
    )


def _request(sent: PostedForm) -> PurgeRequest:
    match sent.text("kind"):
        case PurgeKind.USER:
            return PurgeRequest.user()
        case PurgeKind.SESSION:
            return PurgeRequest.sessions(*sent.text("ids").split())
        case PurgeKind.MEMORY:
            return PurgeRequest.memories(*sent.text("ids").split())
        case PurgeKind.PROJECT:
            return PurgeRequest.projects(*sent.text("ids").split())
        case PurgeKind.SOURCE:
            return PurgeRequest.of_source(sent.text("source").strip() or IMPORTED)
        case PurgeKind.OLDER_THAN:
            return PurgeRequest.older_than(sent.number("days"))
        case _:
            raise InvalidInput("choose what to erase")


def _word(visit: Visit, kind: PurgeKind) -> str:
    return visit.signed.person.name if kind is PurgeKind.USER else WORD


def _farewell(visit: Visit, made: Receipt) -> Response:
    text = json.dumps({"receipt": to_json(made)}, indent=2)
    values = {"receipt": made, "text": text, "theme": theme_of(visit.request), "root": ROOT}
    return render("farewell.html", values, reader=visit.reader)
