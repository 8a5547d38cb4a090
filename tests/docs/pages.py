"""Reads our Markdown pages: their code blocks, links and headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_NOT_OURS = frozenset({".git", ".venv", ".hypothesis", ".pytest_cache", ".ruff_cache", "build", "dist"})


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block, with the line of the page on which its code begins."""

    info: str
    code: str
    line: int


def markdown_files() -> list[Path]:
    """Every Markdown page of the repository."""
    found = (path for path in ROOT.rglob("*.md") if not _NOT_OURS & set(path.relative_to(ROOT).parts))
    return sorted(found)


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for found in _BLOCK.finditer(text):
        yield Block(found["info"].strip(), found["code"], text.count("\n", 0, found.start("code")) + 1)


def links(text: str) -> list[str]:
    """Where the page points, apart from what stands in code."""
    prose = _CODE_SPAN.sub("", _BLOCK.sub("", text))
    return [inline or reference for inline, reference in _LINK.findall(prose)]


def anchors(text: str) -> set[str]:
    """The names by which a link can point at a heading of the page."""
    found: set[str] = set()
    for heading in _HEADING.findall(_BLOCK.sub("", text)):
        kept = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(kept.replace(" ", "-"))
    return found
