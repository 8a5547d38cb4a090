"""Rendered: the blocks of our own context in a text, however they got there."""

import re
from functools import cache

from recollectum.context.rendering import frame
from recollectum.domain.context import PartKind
from recollectum.domain.summary import BY_RULES, Summary

_FENCED = re.compile(r"<(recalled|summary)-([A-Za-z0-9]{8,64})>.*?(?:</\1-\2>|\Z)", re.DOTALL)
_LABELLED = re.compile(r"^[ \t]*\[[^\]\n]*; by [^\]\n]*; trust: [^\]\n]*\][ \t]*(?:\n[ \t]*\|.*)*", re.MULTILINE)
_MARK = "0" * 8
# "# Notes" is a heading that anybody writes; it is ours only beside another of ours.
_OURS = (PartKind.PROFILE, PartKind.LEARNING, PartKind.MEMORY, PartKind.SUMMARY, PartKind.MESSAGE)


def rendered_blocks(text: str) -> list[tuple[int, int]]:
    """Where a context of ours, or a part of one, stands in the text; the ranges may overlap."""
    if "[" not in text and "#" not in text and "<" not in text:
        return []
    headed = [found.span() for found in _headed().finditer(text)]
    found = headed + [one.span() for pattern in (_FENCED, _LABELLED) for one in pattern.finditer(text)]
    notes = _notes().search(text)
    if found and notes and notes.start() < (first := min(start for start, _ in found)):
        found.append((notes.start(), first))
    return sorted(found)


@cache
def _headed() -> re.Pattern[str]:
    """A heading of ours and all lines up to an empty one."""
    names = "|".join(re.escape(_heading(kind)) for kind in _OURS)
    return re.compile(rf"^[ \t]*(?:{names})[ \t]*(?:\n[ \t]*\S.*)*", re.MULTILINE)


@cache
def _notes() -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{re.escape(_heading(PartKind.NOTES))}[ \t]*$", re.MULTILINE)


def _heading(kind: PartKind) -> str:
    # As the context itself writes it: a heading that is changed there is known here.
    return frame(kind, _MARK, Summary(text="", up_to=0, by=BY_RULES))[0].split("\n")[0]
