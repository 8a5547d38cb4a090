"""Finds the long words of a text once, for all searches that need only those."""

import re

SHORTEST_LONG_WORD = 16
_LONG = re.compile(r"(?<![\w+/~.%-])[\w+/~.%-]{16,}+={0,2}", re.ASCII)


def find_long_words(text: str) -> list[tuple[int, int]]:
    """Return the spans of words of sixteen characters and more: keys, digests, paths."""
    # Most talk has none, and splitting finds that out faster than the pattern.
    if max(map(len, text.split()), default=0) < SHORTEST_LONG_WORD:
        return []
    spans = [found.span() for found in _LONG.finditer(text)]
    return [_without_escape(text, *span) for span in spans] if "\\" in text else spans


def _without_escape(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the letter of an escaped newline before the word."""
    return start + (text[start - 1 : start] == "\\" and text[start] in "nrt"), end
