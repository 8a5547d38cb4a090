"""Shows memories by state, one with its history and sources, and changes them."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import Response

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.ids import parse_enum, parse_optional_enum
from recollectum.domain.memory import Citation, Kind, Memory, State, Version
from recollectum.domain.message import Message
from recollectum.domain.proposal import Span
from recollectum.domain.records import dataclass
from recollectum.doors.console.memory_lists.filtering import LOOKED, MemoryFilter, find_memories
from recollectum.doors.console.page_requests import ROOT, CheckedForm, CurrentVisit, Visit, new_router
from recollectum.doors.console.rendering import spanned
from recollectum.doors.console.text_diff import DiffPiece, diff_words
from recollectum.vault.vault import Vault

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

_MOST = 50
_AROUND = 240
#: How many characters of a cited text are shown; the conversation has the rest.
_CITED = 1_000
_WORDS = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class MemoryOrigin:
    """One message that a memory came from, with its text in pieces."""

    href: str
    speaker: str
    message: Message
    pieces: list[tuple[str, bool]]


def origins_of(vault: Vault, memory: Memory) -> list[MemoryOrigin]:
    """Return the cited texts of a memory; none when it was written by hand, or they are gone."""
    found: list[MemoryOrigin] = []
    for place in vault.memories.citations(memory.id)[:_MOST]:
        message = _message(vault, place)
        if message is None or not message.text:
            # A memory that an agent saved by a tool has a message without text.
            continue
        found.append(
            _origin(message, Span(message.id, place.start, place.end) if place.exact else _closest(memory, message))
        )
    return found


def _message(vault: Vault, place: Citation) -> Message | None:
    try:
        said = vault.sessions.chat(place.session_id).transcript(cursor=str(place.position - 1), limit=1)
    except NotFound:
        # Deleted since the citations were read.
        return None
    return next((one for one in said if one.id == place.message_id), None)


def _closest(memory: Memory, message: Message) -> Span:
    """Return the sentence of a message that shares most words with a memory; the whole text when none does."""
    told = {word.casefold() for word in _WORDS.findall(memory.content[:4000])}
    best, start, end = 0, 0, len(message.text)
    for found in _SENTENCE.finditer(message.text[:20_000]):
        shared = len(told & {word.casefold() for word in _WORDS.findall(found[0])})
        if shared > best:
            blank = len(found[0]) - len(found[0].lstrip())
            best, start, end = shared, found.start() + blank, found.end()
    return Span(message.id, start, end)


def _origin(message: Message, span: Span) -> MemoryOrigin:
    mark = urlencode({"at": message.position, "from": span.start, "to": span.end})
    href = f"{ROOT}/conversations/{message.session_id}?{mark}#m{message.position}"
    end = min(span.end, span.start + _CITED)
    first, last = max(0, span.start - _AROUND), min(len(message.text), end + _AROUND)
    pieces = spanned(message.text[first:last], span.start - first, end - first)
    return MemoryOrigin(href, message.speaker or message.role.value, message, pieces)


router = new_router()
PLACE = f"{ROOT}/memories"
TABS = ((State.ACTIVE, "Active"), (State.ARCHIVED, "Archived"), (State.SOFT_DELETED, "Trash"))
_PAGE = 50


@dataclass(frozen=True, slots=True)
class VersionView:
    """One version of a memory, and its difference from the previous one."""

    version: Version
    pieces: list[DiffPiece]


@router.get(PLACE)
def listed(
    visit: CurrentVisit, state: str = "", kind: str = "", q: str = "", before: str = "", write: str = ""
) -> Response:
    """Show the newest memories in one state, of one kind, or with some words."""
    vault = visit.vault
    wanted = MemoryFilter.parse(state, kind, q)
    found = find_memories(vault, wanted, before=before or None, limit=_PAGE)
    counts = vault.admin.totals().memories
    values = {
        "tabs": [(one.value, name, counts.get(one, 0)) for one, name in TABS],
        "state": wanted.state.value,
        "kind": wanted.kind or "",
        "q": wanted.text,
        "kinds": [one.value for one in Kind],
        "memories": found.memories,
        "more": wanted.query(before=found.next) if found.next else "",
        "cut": found.cut,
        "looked": LOOKED,
        "count": counts.get(wanted.state, 0),
        "any": any(counts.values()),
        "narrows": wanted.narrows,
        "before": before,
        "write": bool(write),
        "grace": vault.admin.lifecycle.retention().grace.days,
    }
    return visit.page("memories.html", values)


@router.post(PLACE)
def remember(visit: CurrentVisit, sent: CheckedForm) -> Response:
    """Save a memory written by hand."""
    kind = parse_enum(Kind, sent.text("kind", Kind.FACT), "kind")
    saved = visit.vault.memories.save(sent.text("content"), kind=kind)
    return visit.go(f"{PLACE}/{saved.id}", "Remembered.", saved.notice)


@router.get(PLACE + "/{memory_id}")
def one(visit: CurrentVisit, memory_id: str) -> Response:
    """Show one memory: its text, its versions, and its sources."""
    vault = visit.vault
    memory = find(vault, memory_id)
    live = memory.state is not State.SOFT_DELETED
    history = vault.memories.history(memory_id) if live else None
    values = {
        "memory": memory,
        "kinds": [one.value for one in Kind],
        "versions": _version_views(history.versions) if history else [],
        "events": list(reversed(history.events if history else vault.admin.events.history(memory_id))),
        "origins": origins_of(vault, memory) if live else [],
    }
    return visit.page("memory.html", values)


@router.post(PLACE + "/{memory_id}/edit")
def edit(visit: CurrentVisit, memory_id: str, sent: CheckedForm) -> Response:
    """Change the text of a memory; the previous text is kept as a version."""
    edited = visit.vault.memories.edit(
        memory_id,
        sent.text("content"),
        kind=parse_optional_enum(Kind, sent.text("kind") or None, "kind"),
        importance=_importance(sent.text("importance")),
        version=sent.number("version"),
    )
    return visit.go(f"{PLACE}/{memory_id}", "Changed. The previous version is in its history.", edited.notice)


@router.post(PLACE + "/{memory_id}/archive")
def archive(visit: CurrentVisit, memory_id: str, _: CheckedForm) -> Response:
    """Archive a memory."""
    visit.vault.memories.move(memory_id, State.ARCHIVED)
    return visit.go(f"{PLACE}/{memory_id}", "Archived. It is kept, but agents no longer see it.")


@router.post(PLACE + "/{memory_id}/forget")
def forget(visit: CurrentVisit, memory_id: str, _: CheckedForm) -> Response:
    """Forget a memory; it stays in the trash until its grace window ends."""
    visit.vault.memories.forget(memory_id)
    return visit.go(f"{PLACE}/{memory_id}", "Forgotten. Agents no longer see it.")


@router.post(PLACE + "/{memory_id}/restore")
def restore(visit: CurrentVisit, memory_id: str, _: CheckedForm) -> Response:
    """Restore a memory."""
    visit.vault.memories.move(memory_id, "active")
    return visit.go(f"{PLACE}/{memory_id}", "Restored.")


def find(vault: "Vault", memory_id: str) -> Memory:
    """Return the memory, also one in the trash."""
    try:
        return vault.memories.get(memory_id)
    except NotFound:
        for found in vault.privacy.trash.list():
            if found.id == memory_id:
                return found
        raise


def title_of(visit: Visit, memory_id: str) -> str | None:
    """Return the text of a memory, if it may be shown."""
    try:
        return visit.vault.memories.get(memory_id).content
    except NotFound:
        return None


def _version_views(versions: tuple[Version, ...]) -> list[VersionView]:
    """Return the versions, newest first."""
    before = ("", *(one.content for one in versions))
    pairs = zip(before, versions, strict=False)
    return [VersionView(one, diff_words(old, one.content) if old else []) for old, one in pairs][::-1]


def _importance(text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("the importance must be a number from 0 to 1") from None
