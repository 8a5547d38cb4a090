"""Blocks of a Markdown text: headings, fences, lists, tables, paragraphs and front matter, end to end.

Only what decides where a note may be cut is read. Where CommonMark would take several lines above a row of dashes for
one heading, we take only a single line, for such rows are mostly meant as rules.
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

Kind = Literal["front matter", "heading", "fence", "list", "table", "paragraph"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*\Z)|~{3,}).*")
_ITEM = re.compile(r"[ \t]*(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t].*)?")
#: What a block of settings at the head of a file begins with, and what ends it.
_FRONT_MATTER = {"---": ("---", "..."), "+++": ("+++",)}
_SHORTEST_RULE = 3


@dataclass(frozen=True, slots=True)
class Block:
    """The characters from `start` to `end` of a text: one thing, and the blank lines after it."""

    kind: Kind
    start: int
    end: int
    #: Of a heading: 1 to 6, and its words.
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its ending, and where it begins and the next one does."""

    text: str
    start: int
    end: int

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to see on it."""
        return not self.text.strip()


def lines(text: str) -> list[Line]:
    """The lines of a text, ended by LF, CRLF or CR as in CommonMark."""
    found = [Line(found[0].rstrip("\r\n"), found.start(), found.end()) for found in _LINE.finditer(text)]
    if text.startswith("\ufeff"):
        found[0] = Line(found[0].text[1:], 0, found[0].end)
    return found


def blocks(text: str) -> list[Block]:
    """The blocks of a text: they follow each other without gaps from its first character to its last."""
    found: list[Block] = []
    all_lines = lines(text)
    start = at = 0
    while at < len(all_lines):
        if all_lines[at].is_blank:
            # Before the first block there is nothing that blank lines could belong to.
            at += 1
            continue
        block, after = _block(all_lines, at)
        while after < len(all_lines) and all_lines[after].is_blank:
            after += 1
        end = all_lines[after - 1].end
        found.append(replace(block, start=start, end=end))
        start, at = end, after
    return found or ([Block("paragraph", 0, len(text))] if text else [])


def items(text: str, block: Block) -> list[Block]:
    """A list as its items, or a table as its rows, for when it is too long to be kept together."""
    found = lines(text[block.start : block.end])
    margin = min((_margin(line) for line in found if _begins_item(line)), default=0)
    starts = [line.start for line in found if block.kind == "table" or (_begins_item(line) and _margin(line) == margin)]
    borders = [block.start, *(block.start + start for start in starts if start), block.end]
    return [Block(block.kind, start, end) for start, end in pairwise(borders)]


def _block(found: list[Line], at: int) -> tuple[Block, int]:
    """What begins at a line, with its place still to be filled in, and the number of the line after it."""
    if at == 0 and (after := _after_front_matter(found)):
        return Block("front matter", 0, 0), after
    if heading := _atx(found[at]):
        return heading, at + 1
    if _FENCE.fullmatch(found[at].text):
        return Block("fence", 0, 0), _after_fence(found, at)
    if _begins_table(found, at):
        return Block("table", 0, 0), _after_table(found, at)
    if _begins_item(found[at]):
        return Block("list", 0, 0), _after_list(found, at)
    if heading := _setext(found, at):
        return heading, at + 2
    return Block("paragraph", 0, 0), _after_paragraph(found, at)


def _atx(line: Line) -> Block | None:
    found = _ATX.fullmatch(line.text)
    if not found:
        return None
    title = (found[2] or "").strip()
    # Closing marks count only when they stand apart: "C#" keeps its own.
    bare = title.rstrip("#")
    if not bare or bare[-1] in " \t":
        title = bare.rstrip()
    return Block("heading", 0, 0, len(found[1]), title)


def _setext(found: list[Line], at: int) -> Block | None:
    under = _UNDERLINE.fullmatch(found[at + 1].text) if at + 1 < len(found) else None
    if not under or _is_rule(found[at]) or found[at].text.lstrip().startswith(">") or _margin(found[at]) > 3:
        return None
    return Block("heading", 0, 0, 1 if under[1][0] == "=" else 2, found[at].text.strip())


def _after_front_matter(found: list[Line]) -> int:
    ends = _FRONT_MATTER.get(found[0].text.rstrip())
    # A blank line at once: a rule, and not settings.
    if not ends or len(found) < 2 or found[1].is_blank:
        return 0
    return next((at + 1 for at, line in enumerate(found[1:], 1) if line.text.rstrip() in ends), 0)


def _after_fence(found: list[Line], at: int) -> int:
    opening = found[at].text.strip()
    mark = opening[0]
    width = len(opening) - len(opening.lstrip(mark))
    for after in range(at + 1, len(found)):
        closing = found[after].text.strip()
        if len(closing) >= width and not closing.strip(mark):
            return after + 1
    return len(found)


def _begins_table(found: list[Line], at: int) -> bool:
    if "|" not in found[at].text or at + 1 >= len(found):
        return False
    delimiters = found[at + 1].text
    return "|" in delimiters and "-" in delimiters and not delimiters.strip(" \t|:-")


def _after_table(found: list[Line], at: int) -> int:
    while at < len(found) and "|" in found[at].text:
        at += 1
    return at


def _after_list(found: list[Line], at: int) -> int:
    """Past its items, what is indented below them, and lines that go on without being indented."""
    after = at + 1
    while after < len(found):
        line = found[after]
        if _FENCE.fullmatch(line.text) and _margin(line):
            after = _after_fence(found, after)
            continue
        is_inside = line.is_blank or _margin(line) > 1 or _begins_item(line)
        if not is_inside and (found[after - 1].is_blank or _interrupts(found, after)):
            break
        after += 1
    return after


def _after_paragraph(found: list[Line], at: int) -> int:
    after = at + 1
    while after < len(found) and not found[after].is_blank:
        if _interrupts(found, after) or _begins_item(found[after]):
            break
        after += 1
    return after


def _interrupts(found: list[Line], at: int) -> bool:
    """Whether the line begins something else without a blank line before it."""
    line = found[at]
    starts = _ATX.fullmatch(line.text) or _FENCE.fullmatch(line.text) or _is_rule(line)
    return bool(starts) or _begins_table(found, at)


def _begins_item(line: Line) -> bool:
    return _ITEM.fullmatch(line.text) is not None and not _is_rule(line)


def _is_rule(line: Line) -> bool:
    marks = "".join(line.text.split())
    return len(marks) >= _SHORTEST_RULE and marks[0] in "-*_" and not marks.strip(marks[0])


def _margin(line: Line) -> int:
    """How far the line is indented, a tab being four."""
    return sum(4 if char == "\t" else 1 for char in line.text[: len(line.text) - len(line.text.lstrip())])
