"""Splits Markdown notes into chunks at headings and between blocks; each chunk knows its headings and lines."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.text.chunking import chunks

BlockKind = Literal["front matter", "heading", "fence", "list", "table", "paragraph"]
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*\Z)|~{3,}).*")
_ITEM = re.compile(r"[ \t]*(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t].*)?")
#: The lines that begin and end the front matter at the head of a file.
_FRONT_MATTER = {"---": ("---", "..."), "+++": ("+++",)}
_SHORTEST_RULE = 3


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """The characters from `start` to `end` of a text: one block, and the blank lines after it."""

    kind: BlockKind
    start: int
    end: int
    #: For a heading: its level from 1 to 6, and its words.
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class MarkdownLine:
    """A line without its ending, its start, and the start of the next line."""

    text: str
    start: int
    end: int

    @property
    def is_blank(self) -> bool:
        """Return whether the line is blank."""
        return not self.text.strip()


def lines(text: str) -> list[MarkdownLine]:
    """Return the lines of a text, ended by LF, CRLF or CR as in CommonMark."""
    found = [MarkdownLine(found[0].rstrip("\r\n"), found.start(), found.end()) for found in _LINE.finditer(text)]
    if text.startswith("\ufeff"):
        found[0] = MarkdownLine(found[0].text[1:], 0, found[0].end)
    return found


def blocks(text: str) -> list[MarkdownBlock]:
    """Return the blocks of a text; together they cover it without gaps."""
    found: list[MarkdownBlock] = []
    all_lines = lines(text)
    start = at = 0
    while at < len(all_lines):
        if all_lines[at].is_blank:
            # Before the first block there is no block that blank lines could belong to.
            at += 1
            continue
        block, after = _block(all_lines, at)
        while after < len(all_lines) and all_lines[after].is_blank:
            after += 1
        end = all_lines[after - 1].end
        found.append(replace(block, start=start, end=end))
        start, at = end, after
    return found or ([MarkdownBlock("paragraph", 0, len(text))] if text else [])


def items(text: str, block: MarkdownBlock) -> list[MarkdownBlock]:
    """Return the items of a list or the rows of a table that is too long for one chunk."""
    found = lines(text[block.start : block.end])
    margin = min((_margin(line) for line in found if _begins_item(line)), default=0)
    starts = [line.start for line in found if block.kind == "table" or (_begins_item(line) and _margin(line) == margin)]
    borders = [block.start, *(block.start + start for start in starts if start), block.end]
    return [MarkdownBlock(block.kind, start, end) for start, end in pairwise(borders)]


def _block(found: list[MarkdownLine], at: int) -> tuple[MarkdownBlock, int]:
    """Return the block that begins at a line, without its position, and the number of the line after it."""
    if at == 0 and (after := _after_front_matter(found)):
        return MarkdownBlock("front matter", 0, 0), after
    if heading := _atx(found[at]):
        return heading, at + 1
    if _FENCE.fullmatch(found[at].text):
        return MarkdownBlock("fence", 0, 0), _after_fence(found, at)
    if _begins_table(found, at):
        return MarkdownBlock("table", 0, 0), _after_table(found, at)
    if _begins_item(found[at]):
        return MarkdownBlock("list", 0, 0), _after_list(found, at)
    if heading := _setext(found, at):
        return heading, at + 2
    return MarkdownBlock("paragraph", 0, 0), _after_paragraph(found, at)


def _atx(line: MarkdownLine) -> MarkdownBlock | None:
    found = _ATX.fullmatch(line.text)
    if not found:
        return None
    title = (found[2] or "").strip()
    # Closing marks count only after a space: "C#" keeps its own.
    bare = title.rstrip("#")
    if not bare or bare[-1] in " \t":
        title = bare.rstrip()
    return MarkdownBlock("heading", 0, 0, len(found[1]), title)


def _setext(found: list[MarkdownLine], at: int) -> MarkdownBlock | None:
    under = _UNDERLINE.fullmatch(found[at + 1].text) if at + 1 < len(found) else None
    if not under or _is_rule(found[at]) or found[at].text.lstrip().startswith(">") or _margin(found[at]) > 3:
        return None
    return MarkdownBlock("heading", 0, 0, 1 if under[1][0] == "=" else 2, found[at].text.strip())


def _after_front_matter(found: list[MarkdownLine]) -> int:
    ends = _FRONT_MATTER.get(found[0].text.rstrip())
    # A blank line follows at once: this is a thematic break, not front matter.
    if not ends or len(found) < 2 or found[1].is_blank:
        return 0
    return next((at + 1 for at, line in enumerate(found[1:], 1) if line.text.rstrip() in ends), 0)


def _after_fence(found: list[MarkdownLine], at: int) -> int:
    opening = found[at].text.strip()
    mark = opening[0]
    width = len(opening) - len(opening.lstrip(mark))
    for after in range(at + 1, len(found)):
        closing = found[after].text.strip()
        if len(closing) >= width and not closing.strip(mark):
            return after + 1
    return len(found)


def _begins_table(found: list[MarkdownLine], at: int) -> bool:
    if "|" not in found[at].text or at + 1 >= len(found):
        return False
    delimiters = found[at + 1].text
    return "|" in delimiters and "-" in delimiters and not delimiters.strip(" \t|:-")


def _after_table(found: list[MarkdownLine], at: int) -> int:
    while at < len(found) and "|" in found[at].text:
        at += 1
    return at


def _after_list(found: list[MarkdownLine], at: int) -> int:
    """Return the line after a list: after its items, the indented lines below them, and lazy continuation lines."""
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


def _after_paragraph(found: list[MarkdownLine], at: int) -> int:
    after = at + 1
    while after < len(found) and not found[after].is_blank:
        if _interrupts(found, after) or _begins_item(found[after]):
            break
        after += 1
    return after


def _interrupts(found: list[MarkdownLine], at: int) -> bool:
    """Return whether the line begins another block without a blank line before it."""
    line = found[at]
    starts = _ATX.fullmatch(line.text) or _FENCE.fullmatch(line.text) or _is_rule(line)
    return bool(starts) or _begins_table(found, at)


def _begins_item(line: MarkdownLine) -> bool:
    return _ITEM.fullmatch(line.text) is not None and not _is_rule(line)


def _is_rule(line: MarkdownLine) -> bool:
    marks = "".join(line.text.split())
    return len(marks) >= _SHORTEST_RULE and marks[0] in "-*_" and not marks.strip(marks[0])


def _margin(line: MarkdownLine) -> int:
    """Return the indentation of a line; a tab counts four."""
    return sum(4 if char == "\t" else 1 for char in line.text[: len(line.text) - len(line.text.lstrip())])


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """The characters from `start` to `end` of a note, which are its lines from `first_line` to `last_line`."""

    text: str
    start: int
    end: int
    #: Counted from 1.
    first_line: int
    last_line: int
    #: The headings above the chunk, outermost first; its own is the last.
    headings: tuple[str, ...]
    #: Whether it is the front matter at the head of the file, which is not prose.
    is_front_matter: bool = False


@dataclass(frozen=True, slots=True)
class _Section:
    headings: tuple[str, ...]
    blocks: tuple[MarkdownBlock, ...]


def sections(text: str, *, size: int = 1600, overlap: int = 160) -> list[NoteChunk]:
    """Return the note in chunks of at most `size` characters that cover it; only chunks of one section overlap."""
    if size < 1 or not 0 <= overlap <= size // 2:
        raise InvalidInput(f"chunks of {size} with {overlap} shared cannot be cut; share at most half of at least 1")
    starts = [line.start for line in lines(text)]
    return [
        NoteChunk(
            text=text[start:end],
            start=start,
            end=end,
            first_line=bisect_right(starts, start),
            last_line=bisect_right(starts, end - 1),
            headings=section.headings,
            is_front_matter=section.blocks[0].kind == "front matter",
        )
        for section in _sections(blocks(text))
        for start, end in _pieces(text, section.blocks, size, overlap)
    ]


def _sections(found: list[MarkdownBlock]) -> Iterator[_Section]:
    """Return runs of blocks under the same headings; a heading with nothing below it joins the next run."""
    path: list[tuple[int, str]] = []
    run: list[MarkdownBlock] = []
    for block in found:
        begins = block.kind == "heading" and any(each.kind != "heading" for each in run)
        if begins or (run and run[-1].kind == "front matter"):
            yield _Section(tuple(title for _, title in path), tuple(run))
            run = []
        if block.kind == "heading":
            path = [*((level, title) for level, title in path if level < block.level), (block.level, block.title)]
        run.append(block)
    if run:
        yield _Section(tuple(title for _, title in path), tuple(run))


def _pieces(text: str, found: tuple[MarkdownBlock, ...], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each chunk of a section: whole blocks while they fit, and larger ones cut up."""
    start = end = found[0].start
    before: MarkdownBlock | None = None
    for block in _fitting(text, found, size):
        if block.end - start > size:
            # A heading alone says nothing, so it joins the first chunk of a block that must be cut anyway.
            if before and not (before.kind == "heading" and block.end - block.start > size):
                yield start, end
                start = _shared(text, before, block, size, overlap)
            *cut, last = chunks(text[start : block.end], size=size, overlap=overlap)
            yield from ((start + piece.start, start + piece.end) for piece in cut)
            start += last.start
        end = block.end
        before = block
    yield start, end


def _fitting(text: str, found: tuple[MarkdownBlock, ...], size: int) -> Iterator[MarkdownBlock]:
    """Yield the blocks; lists and tables that are too long are split."""
    for block in found:
        if block.end - block.start > size and block.kind in ("list", "table"):
            yield from items(text, block)
        else:
            yield block


def _shared(text: str, before: MarkdownBlock, block: MarkdownBlock, size: int, overlap: int) -> int:
    """Return the start of the next chunk: within the previous block, if that can overlap safely."""
    room = min(overlap, size - (block.end - block.start))
    if room <= 0:
        return block.start
    if before.end - before.start <= room:
        return before.start
    if before.kind in ("fence", "table"):
        # Half of a fenced block would be read as prose, and prose as code.
        return block.start
    earliest = block.start - room
    return next((at + 1 for at in range(earliest, block.start - 1) if text[at].isspace()), earliest)
