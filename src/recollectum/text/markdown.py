"""Markdown notes in pieces for the index: cut at headings, then between blocks; each knows its headings and lines."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from recollectum.domain.errors import InvalidInput
from recollectum.text.chunking import chunks
from recollectum.text.markdown_blocks import Block, blocks, items, lines


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """The characters from `start` to `end` of a note, which are its lines from `first_line` to `last_line`."""

    text: str
    start: int
    end: int
    #: Counted from 1.
    first_line: int
    last_line: int
    #: The headings it stands under, outermost first; its own is the last.
    headings: tuple[str, ...]
    #: Whether it is the block of settings at the head of the file, which is not prose.
    is_front_matter: bool = False


@dataclass(frozen=True, slots=True)
class _Section:
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]


def sections(text: str, *, size: int = 1600, overlap: int = 160) -> list[NoteChunk]:
    """The note in pieces of at most `size` characters that cover all of it; only pieces of one section overlap."""
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


def _sections(found: list[Block]) -> Iterator[_Section]:
    """Runs of blocks under the same headings; a heading with nothing below it goes with the next one."""
    path: list[tuple[int, str]] = []
    run: list[Block] = []
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


def _pieces(text: str, found: tuple[Block, ...], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Where the pieces of a section begin and end: whole blocks while they fit, and what does not fit cut up."""
    start = end = found[0].start
    before: Block | None = None
    for block in _fitting(text, found, size):
        if block.end - start > size:
            # A heading alone says nothing, so it goes with the first piece of what has to be cut anyway.
            if before and not (before.kind == "heading" and block.end - block.start > size):
                yield start, end
                start = _shared(text, before, block, size, overlap)
            *cut, last = chunks(text[start : block.end], size=size, overlap=overlap)
            yield from ((start + piece.start, start + piece.end) for piece in cut)
            start += last.start
        end = block.end
        before = block
    yield start, end


def _fitting(text: str, found: tuple[Block, ...], size: int) -> Iterator[Block]:
    """The blocks, with lists and tables that are too long taken apart."""
    for block in found:
        if block.end - block.start > size and block.kind in ("list", "table"):
            yield from items(text, block)
        else:
            yield block


def _shared(text: str, before: Block, block: Block, size: int, overlap: int) -> int:
    """Where the next piece begins: within the block before, when that can be shared without harm."""
    room = min(overlap, size - (block.end - block.start))
    if room <= 0:
        return block.start
    if before.end - before.start <= room:
        return before.start
    if before.kind in ("fence", "table"):
        # Half of a fence would be read as prose, and prose as code.
        return block.start
    earliest = block.start - room
    return next((at + 1 for at in range(earliest, block.start - 1) if text[at].isspace()), earliest)
