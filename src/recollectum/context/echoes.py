"""Finds blocks that memory served in a text, by the marks of their fences.

A fence counts only with its closing mark, so that an opening mark alone hides nothing. The wrapper that a program puts
around a block belongs to the block, because nobody typed the output of a hook. The time is linear in the length of the
text.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from recollectum.context.fences import LASTING_MARK
from recollectum.context.rendering import LEADS

Range = tuple[int, int]

_NAMES = tuple(LEADS)
#: How each name begins a tag.
TAGS = tuple(f"{name}-" for name in _NAMES)
#: The tags that programs put around the output of hooks and tools: Gemini CLI the first three, Claude Code the others.
_WRAPPERS = ("hook_context", "untrusted_context", "session_context", "system-reminder", "user-prompt-submit-hook")
# Programs escape the wrapped text, some twice, and JSON inside a text has its own escapes.
_LEFT, _RIGHT = r"(?:<|&(?:amp;)*lt;|\\u003[cC])", r"(?:>|&(?:amp;)*gt;|\\u003[eE])"
TAG = re.compile(rf"{_LEFT}(/?)({'|'.join(_NAMES)})-([A-Za-z0-9]{{8,64}}){_RIGHT}")
WRAPPER = re.compile(rf"{_LEFT}(/?)({'|'.join(_WRAPPERS)}){_RIGHT}")
#: The marks that Recollectum chooses; a tag with any other mark may be the person's own.
_DRAWN = re.compile(rf"[0-9a-f]{{16}}|{LASTING_MARK}")
_SPACE = r"(?:[\s|>]|\\n|\\r)*"
#: The lines before a fence: all of them, or only the last one, as in the answer of a tool.
_LEAD = {
    name: re.compile("".join(f"(?:{re.escape(one)}{_SPACE})?" for one in first) + re.escape(last) + rf"{_SPACE}\Z")
    for name, (*first, last) in LEADS.items()
}
#: The longest heading with its sentence, with room for bars and spaces.
_LONGEST_LEAD = 400


def marked_blocks(text: str) -> list[Range]:
    """Return the ranges of served blocks, with their headings and wrappers; disjoint and in order."""
    # Most texts have no angle bracket, in any of its forms; the names alone are words that people use.
    if not ("<" in text or "lt;" in text or "003" in text) or not [tag for tag in TAGS if tag in text]:
        return []
    return with_wrappers(text, _fenced(text))


def with_wrappers(text: str, found: Iterable[Range]) -> list[Range]:
    """Extend each range to the wrapper around it, if there is one; return disjoint ranges in order."""
    ranges = merge(found)
    tags = [one for one in WRAPPER.finditer(text) if not _is_inside(one.start(), ranges)] if ranges else []
    return merge(_wrapped(tags, one) for one in ranges) if tags else ranges


def cut(text: str, found: Sequence[Range]) -> str:
    """Return the text without the ranges; white space on both sides of a range becomes one space or line end."""
    if not found:
        return text
    borders = [0, *(place for one in found for place in one), len(text)]
    first, *others = (text[start:end] for start, end in zip(borders[::2], borders[1::2], strict=True))
    kept, gap = [first.rstrip()], first[len(first.rstrip()) :]
    for number, piece in enumerate(others, start=1):
        begun = piece.lstrip()
        bare = begun if number == len(others) else begun.rstrip()
        gap += piece[: len(piece) - len(begun)]
        if bare:
            kept += [("\n" if "\n" in gap else gap[:1]) if any(kept) else "", bare]
            gap = ""
        gap += begun[len(bare) :]
    return "".join(kept)


def cut_lines(text: str, found: Iterable[Range]) -> str:
    """Return the text without the ranges, but with the same number of lines."""
    for start, end in sorted(found, reverse=True):
        text = text[:start] + "\n" * text.count("\n", start, end) + text[end:]
    return text


def merge(found: Iterable[Range]) -> list[Range]:
    """Return the same ranges, disjoint and in order."""
    merged: list[Range] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _fenced(text: str) -> list[Range]:
    tags = list(TAG.finditer(text))
    ends: Mapping[tuple[str, str], list[Range]] = defaultdict(list)
    for tag in tags:
        if tag[1]:
            ends[tag[2], tag[3]].append(tag.span())
    found: list[Range] = []
    for tag in tags:
        if tag[1] or (found and tag.start() < found[-1][1]):
            continue
        closings = ends.get((tag[2], tag[3]), [])
        at = bisect_left(closings, tag.span())
        start = _lead_start(text, tag[2], tag.start())
        if at < len(closings) and (start < tag.start() or _DRAWN.fullmatch(tag[3])):
            found.append((start, closings[at][1]))
    return found


def _lead_start(text: str, name: str, at: int) -> int:
    """Return the start of the heading before a fence, or of the fence if it has none."""
    first = max(0, at - _LONGEST_LEAD)
    lead = _LEAD[name].search(text[first:at])
    return first + lead.start() if lead else at


def _is_inside(at: int, ranges: Sequence[Range]) -> bool:
    before = bisect_right(ranges, at, key=lambda one: one[0]) - 1
    return before >= 0 and at < ranges[before][1]


def _wrapped(tags: Sequence[re.Match[str]], found: Range) -> Range:
    """Extend a range to the innermost wrapper around it."""
    after = bisect_left(tags, found[1], key=lambda tag: tag.start())
    if not 0 < after < len(tags):
        return found
    opens, closes = tags[after - 1], tags[after]
    return (opens.start(), closes.end()) if opens[2] == closes[2] and closes[1] and not opens[1] else found
