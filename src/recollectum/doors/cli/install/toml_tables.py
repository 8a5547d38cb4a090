"""Adds or removes one table of a TOML text, and leaves every other line alone."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import cast

from recollectum.domain.errors import InvalidInput

_HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(?:#.*)?")
_QUOTES_AND_SPACES = re.compile(r"[\s\"']")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


def read(text: str) -> dict[str, object]:
    """The document as values."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = found[1] if found and found[1] else str(text.count("\n") + 1)
        what = _AT_LINE.sub("", str(error)).strip()
        raise InvalidInput(f"line {line}: {what[:1].lower()}{what[1:]}") from None


def find(tree: object, path: Sequence[str]) -> object:
    """The value under some names; None when there is none."""
    found = tree
    for name in path:
        if not isinstance(found, dict):
            return None
        found = cast("dict[str, object]", found).get(name)
    return found


def with_table(text: str, path: Sequence[str], values: Mapping[str, object]) -> str:
    """The text with a table of plain values, in the place it had, or at the end."""
    if find(read(text), path) == values:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    table = [f"[{'.'.join(path)}]", *(f"{name} = {_literal(value)}" for name, value in values.items())]
    lines = _lines(text)
    spans = _spans(lines, ".".join(path))
    if spans:
        start, end = spans[0]
        for first, last in reversed(spans[1:]):
            del lines[first:last]
        lines[start:end] = table
    else:
        lines += [*([""] if lines and lines[-1].strip() else []), *table]
    return newline.join(lines) + newline


def without_table(text: str, path: Sequence[str]) -> str:
    """The text without a table, the tables below it, and the empty line that set it off."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _lines(text)
    spans = _spans(lines, ".".join(path))
    for first, last in reversed(spans):
        gap = first > 0 and not lines[first - 1].strip()
        del lines[first - 1 if gap else first : last]
    return newline.join(lines) + newline if spans and lines else "" if spans else text


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _spans(lines: Sequence[str], name: str) -> list[tuple[int, int]]:
    """From the header of each such table to after its last line that is not blank or a comment of what follows."""
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for number, line in enumerate([*lines, "[end]"]):
        header = _HEADER.fullmatch(line)
        if not header:
            continue
        if start is not None:
            spans.append((start, _end(lines, start, number)))
        plain = _QUOTES_AND_SPACES.sub("", header["name"])
        start = number if plain == name or plain.startswith(f"{name}.") else None
    return spans


def _end(lines: Sequence[str], start: int, end: int) -> int:
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _literal(value: object) -> str:
    # What JSON writes of texts, lists of texts, numbers and booleans is TOML as well.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
