"""LEARNINGS.md as pieces: the entries of the four categories, and everything else to the letter.

    ## Preferences
    - [2026-11-15] Answers in one paragraph,
      unless asked for more.

An entry is a list item that is not indented, with the indented lines that follow it. Other text, comments, fenced code
and sections with other headings are a person's own and are kept as they are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from recollectum.domain.memory import Kind

HEADINGS: dict[Kind, str] = {
    Kind.PREFERENCE: "Preferences",
    Kind.CORRECTION: "Corrections",
    Kind.PATTERN: "Patterns",
    Kind.TOOL_USAGE: "Tool usage",
}
# Also the longer names that other agents give the same sections.
_NAMES = {name.casefold(): kind for kind, name in HEADINGS.items()} | {
    "user preferences": Kind.PREFERENCE,
    "successful patterns": Kind.PATTERN,
}
_TITLE = "Learnings"
_HEADING = re.compile(r"(#{1,2})[ \t]+(.*?)[ \t]*#*\s*")
_ITEM = re.compile(r"[-*+][ \t]+(?:\[([0-9]{4}-[0-9]{2}-[0-9]{2})\](?=\s|$)[ \t]*)?(.*)", re.DOTALL)
_FENCE = re.compile(r"(`{3,}|~{3,})")
_INDENTS = ("  ", "\t")
_MARK = "\ufeff"


class BrokenFile(ValueError):
    """A file that cannot be read as learnings, in words that follow its name."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line} {why}")
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One list item: its section, day and text, and its lines to the letter."""

    raw: str
    line: int
    #: None below a heading that is not one of the four.
    category: Kind | None
    #: None where nobody wrote one.
    day: date | None
    text: str


@dataclass(frozen=True, slots=True)
class Other:
    """Lines that are no entry, to the letter."""

    raw: str
    #: The category that begins here, when this is one of the four headings.
    opens: Kind | None = None


Piece = Entry | Other


def parse(text: str) -> list[Piece]:
    """The pieces of a file; `BrokenFile` names the line that has no meaning."""
    lines = _split(text)
    pieces: list[Piece] = []
    category: Kind | None = None
    at = 0
    while at < len(lines):
        if "\0" in lines[at]:
            raise BrokenFile(at + 1, "holds a NUL character, which no text has; take it out")
        bare = lines[at].removeprefix(_MARK) if at == 0 else lines[at]
        end = _end(lines, at, bare)
        raw = "".join(lines[at:end])
        if found := _HEADING.fullmatch(bare):
            category = _NAMES.get(found[2].casefold())
            pieces.append(Other(raw, category))
        elif entry := _entry(raw, bare + "".join(lines[at + 1 : end]), at + 1, category):
            pieces.append(entry)
        else:
            pieces.append(Other(raw))
        at = end
    return pieces


def to_text(pieces: Sequence[Piece]) -> str:
    """The file that the pieces make."""
    return "".join(piece.raw for piece in pieces)


def new_file() -> list[Piece]:
    """The pieces of a file with nothing in it yet."""
    pieces: list[Piece] = [Other(f"# {_TITLE}\n")]
    for kind in HEADINGS:
        pieces += section(kind, "\n")
    return pieces


def section(kind: Kind, newline: str) -> list[Piece]:
    """The heading of a category."""
    return [Other(newline), Other(f"## {HEADINGS[kind]}{newline}", kind)]


def line_break(pieces: Sequence[Piece]) -> str:
    """The line break that a file uses."""
    return "\r\n" if pieces and pieces[0].raw.endswith("\r\n") else "\n"


def as_shown(text: str) -> str:
    """A text as it reads in the file: without space at the ends of its lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def to_entry(kind: Kind, day: date, text: str, newline: str = "\n") -> Entry:
    """An entry as Recollectum writes it."""
    first, *rest = as_shown(text).split("\n")
    lines = [f"- [{day.isoformat()}] {first}", *(f"  {line}" if line else "" for line in rest)]
    raw = "".join(line + newline for line in lines)
    return Entry(raw=raw, line=0, category=kind, day=day, text=as_shown(text))


def comment(words: str, newline: str) -> Other:
    """A remark for the person who reads the file."""
    return Other(f"<!-- {words} -->{newline}")


def _split(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _end(lines: Sequence[str], start: int, bare: str) -> int:
    """The line after the piece that begins at `start`."""
    if bare.startswith("<!--"):
        if after := _after(lines, start, re.compile(r".*-->.*", re.DOTALL)):
            return after
        raise BrokenFile(start + 1, "opens a comment that is not closed; add -->")
    if fence := _FENCE.match(bare):
        mark = fence[1]
        if after := _after(lines, start + 1, re.compile(rf"\s*{mark[0]}{{{len(mark)},}}\s*")):
            return after
        raise BrokenFile(start + 1, f"opens code that is not closed; add {mark}")
    return max(_inside(lines, start), default=start) + 1 if _ITEM.fullmatch(bare) else start + 1


def _after(lines: Sequence[str], start: int, closes: re.Pattern[str]) -> int | None:
    return next((at + 1 for at in range(start, len(lines)) if closes.fullmatch(lines[at])), None)


def _inside(lines: Sequence[str], start: int) -> Iterator[int]:
    """The indented lines after an item; empty ones belong to it only when such a line follows."""
    for at in range(start + 1, len(lines)):
        if not lines[at].strip():
            continue
        if not lines[at].startswith(_INDENTS):
            return
        yield at


def _entry(raw: str, bare: str, line: int, category: Kind | None) -> Entry | None:
    first, *rest = _split(bare)
    found = _ITEM.fullmatch(first)
    text = as_shown("\n".join([found[2].rstrip(), *(_unindented(one) for one in rest)])) if found else ""
    if not found or not text:
        return None
    return Entry(raw=raw, line=line, category=category, day=_day(found[1], line), text=text)


def _unindented(line: str) -> str:
    for indent in _INDENTS:
        if line.startswith(indent):
            return line[len(indent) :].rstrip()
    return ""


def _day(written: str | None, line: int) -> date | None:
    if not written:
        return None
    try:
        return date.fromisoformat(written)
    except ValueError:
        raise BrokenFile(line, f"has the date {written}, which no calendar has; correct it") from None
