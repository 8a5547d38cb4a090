"""Parses LEARNINGS.md, and edits its entries while every other line stays unchanged."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date

from recollectum.domain.memory import Kind
from recollectum.domain.records import dataclass

HEADINGS: dict[Kind, str] = {
    Kind.PREFERENCE: "Preferences",
    Kind.CORRECTION: "Corrections",
    Kind.PATTERN: "Patterns",
    Kind.TOOL_USAGE: "Tool usage",
}
# Includes the longer section names that other agents use.
_NAMES = {name.casefold(): kind for kind, name in HEADINGS.items()} | {
    "user preferences": Kind.PREFERENCE,
    "successful patterns": Kind.PATTERN,
}
_TITLE = "Learnings"
_HEADING = re.compile(r"(#{1,2})[ \t]+(.*?)[ \t]*#*\s*")
_ITEM = re.compile(r"[-*+][ \t]+(?:\[([0-9]{4}-[0-9]{2}-[0-9]{2})\](?=\s|$)[ \t]*)?(.*)", re.DOTALL)
_FENCE = re.compile(r"(`{3,}|~{3,})")
_ITEM_INDENTS = ("  ", "\t")
_BYTE_ORDER_MARK = "\ufeff"


class MalformedLearnings(ValueError):
    """Raised when a file cannot be parsed as learnings; the message follows the file's name."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line} {why}")
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningEntry:
    """One list item: its section, day and text, and its exact lines."""

    raw: str
    line: int
    #: None below a heading that is not one of the four.
    category: Kind | None
    #: None when the entry has no day.
    day: date | None
    text: str


@dataclass(frozen=True, slots=True)
class OtherLines:
    """Exact lines that are not an entry."""

    raw: str
    #: The category that begins here, when this is one of the four headings.
    opens: Kind | None = None


LearningsPart = LearningEntry | OtherLines


def parse_learnings(text: str) -> list[LearningsPart]:
    """Split a file into its parts; `MalformedLearnings` names the line that cannot be parsed."""
    lines = _split(text)
    pieces: list[LearningsPart] = []
    category: Kind | None = None
    at = 0
    while at < len(lines):
        if "\0" in lines[at]:
            raise MalformedLearnings(at + 1, "contains a NUL character; remove it")
        bare = lines[at].removeprefix(_BYTE_ORDER_MARK) if at == 0 else lines[at]
        end = _end_of_part(lines, at, bare)
        raw = "".join(lines[at:end])
        if found := _HEADING.fullmatch(bare):
            category = _NAMES.get(found[2].casefold())
            pieces.append(OtherLines(raw, category))
        elif entry := _parse_entry(raw, bare + "".join(lines[at + 1 : end]), at + 1, category):
            pieces.append(entry)
        else:
            pieces.append(OtherLines(raw))
        at = end
    return pieces


def join_parts(pieces: Sequence[LearningsPart]) -> str:
    """Return the file text that the parts make."""
    return "".join(piece.raw for piece in pieces)


def new_document() -> list[LearningsPart]:
    """Return the parts of a new, empty file."""
    pieces: list[LearningsPart] = [OtherLines(f"# {_TITLE}\n")]
    for kind in HEADINGS:
        pieces += category_heading(kind, "\n")
    return pieces


def category_heading(kind: Kind, newline: str) -> list[LearningsPart]:
    """Return the heading of a category."""
    return [OtherLines(newline), OtherLines(f"## {HEADINGS[kind]}{newline}", kind)]


def line_break(pieces: Sequence[LearningsPart]) -> str:
    """Return the line break that a file uses."""
    return "\r\n" if pieces and pieces[0].raw.endswith("\r\n") else "\n"


def strip_line_ends(text: str) -> str:
    """Return a text as it reads in the file: without trailing space on its lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def to_entry(kind: Kind, day: date, text: str, newline: str = "\n") -> LearningEntry:
    """Return an entry as Recollectum writes it."""
    first, *rest = strip_line_ends(text).split("\n")
    lines = [f"- [{day.isoformat()}] {first}", *(f"  {line}" if line else "" for line in rest)]
    raw = "".join(line + newline for line in lines)
    return LearningEntry(raw=raw, line=0, category=kind, day=day, text=strip_line_ends(text))


def to_comment(words: str, newline: str) -> OtherLines:
    """Return a comment for the person who reads the file."""
    return OtherLines(f"<!-- {words} -->{newline}")


def _split(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _end_of_part(lines: Sequence[str], start: int, bare: str) -> int:
    """Return the line after the part that begins at `start`."""
    if bare.startswith("<!--"):
        if after := _end_of_block(lines, start, re.compile(r".*-->.*", re.DOTALL)):
            return after
        raise MalformedLearnings(start + 1, "opens a comment that is not closed; add -->")
    if fence := _FENCE.match(bare):
        mark = fence[1]
        if after := _end_of_block(lines, start + 1, re.compile(rf"\s*{mark[0]}{{{len(mark)},}}\s*")):
            return after
        raise MalformedLearnings(start + 1, f"opens code that is not closed; add {mark}")
    return max(_end_of_item(lines, start), default=start) + 1 if _ITEM.fullmatch(bare) else start + 1


def _end_of_block(lines: Sequence[str], start: int, closes: re.Pattern[str]) -> int | None:
    return next((at + 1 for at in range(start, len(lines)) if closes.fullmatch(lines[at])), None)


def _end_of_item(lines: Sequence[str], start: int) -> Iterator[int]:
    """Yield the indented lines after an item; blank lines belong to it only when such a line follows."""
    for at in range(start + 1, len(lines)):
        if not lines[at].strip():
            continue
        if not lines[at].startswith(_ITEM_INDENTS):
            return
        yield at


def _parse_entry(raw: str, bare: str, line: int, category: Kind | None) -> LearningEntry | None:
    first, *rest = _split(bare)
    found = _ITEM.fullmatch(first)
    text = strip_line_ends("\n".join([found[2].rstrip(), *(_unindented(one) for one in rest)])) if found else ""
    if not found or not text:
        return None
    return LearningEntry(raw=raw, line=line, category=category, day=_parse_day(found[1], line), text=text)


def _unindented(line: str) -> str:
    for indent in _ITEM_INDENTS:
        if line.startswith(indent):
            return line[len(indent) :].rstrip()
    return ""


def _parse_day(written: str | None, line: int) -> date | None:
    if not written:
        return None
    try:
        return date.fromisoformat(written)
    except ValueError:
        raise MalformedLearnings(line, f"has the date {written}, which does not exist; correct it") from None


_INDENTS = (" ", "\t")


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """A part of the file, and the learning it shows."""

    piece: LearningsPart
    memory_id: str | None = None


@dataclass(slots=True)
class DocumentChanges:
    """The changes to write; entries are numbered by their order in the file."""

    #: The replacement of an entry: itself, another text, or None to remove it.
    shown: Mapping[int, PlacedPart | None]
    #: The comment above an entry, and the line below it.
    remarks: Mapping[int, tuple[str, PlacedPart | None]] = field(
        default_factory=dict[int, tuple[str, PlacedPart | None]]
    )
    #: New lines without a position, each with the comment above it, newest first.
    new: Sequence[tuple[str, PlacedPart]] = ()


def apply_changes(pieces: Sequence[LearningsPart], changes: DocumentChanges) -> list[PlacedPart]:
    """Return the file with the changes applied."""
    newline = line_break(pieces)
    laid: list[PlacedPart] = []
    place = 0
    for piece in pieces:
        if isinstance(piece, LearningEntry):
            laid += _change_part(piece, place, changes, newline)
            place += 1
        else:
            laid.append(PlacedPart(piece))
    for words, placed in reversed(changes.new):
        added = [PlacedPart(to_comment(words, newline))] if words else []
        laid = _insert_entries(laid, [*added, _render_part(placed, newline)], newline)
    return _end_lines(laid, newline)


def document_text(laid: Sequence[PlacedPart]) -> str:
    """Return the text of the changed file."""
    return join_parts([one.piece for one in laid])


def _change_part(piece: LearningEntry, place: int, changes: DocumentChanges, newline: str) -> list[PlacedPart]:
    shown = changes.shown.get(place, PlacedPart(piece))
    if shown is None:
        return []
    words, below = changes.remarks.get(place, ("", None))
    now = shown.piece
    same = isinstance(now, LearningEntry) and (now.category, now.day, now.text) == (
        piece.category,
        piece.day,
        piece.text,
    )
    found = [PlacedPart(piece, shown.memory_id) if same else _render_part(shown, newline)]
    if words:
        found.insert(0, PlacedPart(to_comment(words, newline)))
    return [*found, _render_part(below, newline)] if below else found


def _render_part(placed: PlacedPart, newline: str) -> PlacedPart:
    piece = placed.piece
    if isinstance(piece, LearningEntry) and piece.category and piece.day:
        return PlacedPart(to_entry(piece.category, piece.day, piece.text, newline), placed.memory_id)
    return placed


def _insert_entries(laid: Sequence[PlacedPart], added: Sequence[PlacedPart], newline: str) -> list[PlacedPart]:
    entry = added[-1].piece
    category = entry.category if isinstance(entry, LearningEntry) else None
    at = _insert_position(laid, category)
    if at is None:
        headed = [PlacedPart(piece) for piece in category_heading(category, newline)] if category else []
        return [*laid, *headed, *added]
    return [*laid[:at], *added, *laid[at:]]


def _insert_position(laid: Sequence[PlacedPart], category: Kind | None) -> int | None:
    """Return the position before the first entry of the category, else below its heading; None without a heading."""
    heading: int | None = None
    for at, one in enumerate(laid):
        if isinstance(one.piece, LearningEntry) and one.piece.category is category:
            return _above_remark(laid, at)
        if isinstance(one.piece, OtherLines) and one.piece.opens is category and heading is None:
            heading = at + 1
    if heading is None or not _is_indented(laid, heading):
        return heading
    # An indented line would become part of the entry above it, so the position is after the whole section.
    following = (at for at in range(heading, len(laid)) if not _is_loose(laid[at].piece))
    return next(following, len(laid))


def _above_remark(laid: Sequence[PlacedPart], at: int) -> int:
    """Return the position above our comment, where one precedes the entry."""
    return at - 1 if at and laid[at - 1].piece.raw.startswith("<!-- Conflict") else at


def _is_indented(laid: Sequence[PlacedPart], at: int) -> bool:
    raws = (one.piece.raw for one in laid[at:])
    return next((raw for raw in raws if raw.strip()), "").startswith(_INDENTS)


def _is_loose(piece: LearningsPart) -> bool:
    return not piece.raw.strip() or piece.raw.startswith(_INDENTS)


def _end_lines(laid: Sequence[PlacedPart], newline: str) -> list[PlacedPart]:
    """End every part but the last with a line break."""
    return [
        replace(one, piece=replace(one.piece, raw=one.piece.raw + newline))
        if number < len(laid) - 1 and not one.piece.raw.endswith("\n")
        else one
        for number, one in enumerate(laid)
    ]
