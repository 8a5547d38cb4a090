"""Renders templates with escaping and strict security headers, and formats values for people."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from recollectum.domain.records import dataclass
from recollectum.domain.session import MAIN, Session, SessionKey, SessionKind

# Controls other than newline and tab, marks that change the reading order, and odd separators.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_SPACES = re.compile(r"\s+")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_TABLES = {
    "chunks": "pieces of the search index",
    "memory_versions": "earlier versions",
    "versions": "earlier versions",
    "events": "lines of the audit trail",
    "sessions": "conversations",
    "vectors": "vectors",
    "documents": "states of interfaces and lists of accounts",
}
_ACTORS = {
    "process": "a command or an agent on this machine",
    "lifecycle": "the retention rules",
    "refresh": "the upkeep",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads a page."""

    #: The time zone of their browser; None when it is not known, and then times name the server's zone.
    zone: tzinfo | None = None
    #: The person, as `user:ada`; empty when nobody is signed in.
    person: str = ""


#: The reader of the page that is being rendered: filters get no other argument from a template.
_READER: ContextVar[Reader] = ContextVar("reader", default=Reader())  # noqa: B039  (it is frozen)


def shown(text: str) -> str:
    """Return the text with every character escaped that could act on a page."""
    return _UNSAFE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def clipped(text: str, longest: int = 320) -> str:
    """Return the text on one line, cut when it is too long for a list."""
    flat = shown(_SPACES.sub(" ", text[: longest * 4]).strip())
    return flat if len(flat) <= longest and len(text) <= longest * 4 else flat[: longest - 1] + "…"


def beginning(text: str, longest: int) -> str:
    """Return the first characters of a long text with its lines, cut after a word."""
    head = text[:longest]
    space = max(head.rfind(" "), head.rfind("\n"))
    return shown(head[:space] if space > longest // 2 else head).rstrip() + " …"


def moment(value: datetime | str | None) -> str:
    """Return a time, or its ISO text, as the reader's clock shows it."""
    at = _local(datetime.fromisoformat(value) if isinstance(value, str) else value)
    if at is None:
        return "never"
    return f"{_spell_day(at)}, {at:%H:%M}" + ("" if _READER.get().zone else f" {at:%Z}")


def day(value: datetime | None) -> str:
    """Return the day of a time, as the reader's calendar shows it: `3 March 2026`."""
    at = _local(value)
    return _spell_day(at) if at else "never"


def utc(value: datetime | str) -> str:
    """Return a time, or its ISO text, in UTC, for those who compare it with logs."""
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _local(value: datetime | None) -> datetime | None:
    return value.astimezone(_READER.get().zone) if value else None


def _spell_day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"


def plural(count: int, noun: str) -> str:
    """Return `1 memory`, `2 memories`, `1,200 messages`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun[-1] == "y" and noun[-2] not in "aeiou" else f"{count:,} {noun}s"


def counted(count: int, words: str) -> str:
    """Return `1 vault`, `2 vaults`, `3 archived`, from a name that may be in the plural."""
    name = spaced(words)
    if count == 1 and name.endswith("s") and not name.endswith("ss"):
        name = f"{name[:-3]}y" if name.endswith("ies") else name[:-1]
    return f"{count:,} {name}"


def size(count: int) -> str:
    """Return a number of bytes in a suitable unit."""
    value, place = float(count), 0
    while value >= 1024 and place < len(_UNITS) - 1:
        value, place = value / 1024, place + 1
    return f"{value:.0f} {_UNITS[place]}" if place == 0 or value >= 10 else f"{value:.1f} {_UNITS[place]}"


def spaced(word: str) -> str:
    """Return `tool_usage` and `older-than` as words."""
    return word.replace("_", " ").replace("-", " ")


def table(name: str) -> str:
    """Return a plain name for a table of the vault."""
    return _TABLES.get(name, spaced(name))


def actor(name: str) -> str:
    """Return a plain name for the actor of an event or the author of a memory."""
    if name.startswith("person:"):
        person = name.removeprefix("person:")
        return "you or your agent" if person == _READER.get().person else person.removeprefix("user:")
    if name.startswith("key:"):
        return f"the API key {name.removeprefix('key:')}"
    return _ACTORS.get(name, name or "unknown")


def place(key: SessionKey) -> str:
    """Return where a conversation takes place, in words."""
    if key.kind in (SessionKind.HOOK, SessionKind.CRON):
        return f"{key.kind} {key.name}"
    words = [key.agent if key.agent != MAIN else "", key.channel if key.channel != MAIN else "", key.name or ""]
    return " · ".join(shown(word) for word in (*words, key.topic) if word) or "direct"


def title(session: Session) -> str:
    """Return the title of a conversation."""
    return clipped(session.title, 120) if session.title else f"Conversation of {day(session.created_at)}"


def marked(text: str, terms: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the text in pieces, each with whether it starts with one of the search terms."""
    wanted = [re.escape(term) for term in sorted(terms, key=len, reverse=True) if len(term) > 1][:40]
    if not wanted:
        return [(shown(text), False)]
    pieces = re.split(rf"(?i)\b((?:{'|'.join(wanted)})\w*)", text)
    return [(shown(piece), number % 2 == 1) for number, piece in enumerate(pieces) if piece]


def spanned(text: str, start: int, end: int) -> list[tuple[str, bool]]:
    """Return the text in pieces, with a range of characters marked."""
    first = min(max(start, 0), len(text))
    last = min(max(end, first), len(text))
    parts = ((text[:first], False), (text[first:last], True), (text[last:], False))
    return [(shown(piece), mark) for piece, mark in parts if piece]


_FOLDER = Path(__file__).parent
STYLE_SHEET = _FOLDER / "static" / "console.css"
#: What a page may load and do: our style sheet, our script, our image, forms to ourselves, and nothing else.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    # Not stricter: without a referrer browsers send forms with the origin `null`, which the guard must refuse.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@contextmanager
def reading(reader: Reader) -> Generator[None]:
    """Format times and names for a reader, until the block ends."""
    before = _READER.set(reader)
    try:
        yield
    finally:
        _READER.reset(before)


def render(
    template: str, values: Mapping[str, object], *, status: int = 200, reader: Reader | None = None
) -> HTMLResponse:
    """Render a page, or a part of one, for its reader."""
    with reading(reader or Reader()):
        text = _templates().get_template(template).render(values)
    # Lone surrogates cannot be encoded; they were escaped where they may appear.
    return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The library types filters as its own, which no filter of ours matches.
    filters = cast("dict[str, Callable[..., object]]", made.filters)
    filters.update(
        actor=actor,
        beginning=beginning,
        clipped=clipped,
        counted=counted,
        day=day,
        marked=marked,
        moment=moment,
        place=place,
        plural=plural,
        session_title=title,
        shown=shown,
        size=size,
        spaced=spaced,
        table=table,
        utc=utc,
    )
    return made
