"""Finds tokens that are broken over two lines, percent-encoded or in base64."""

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate

from recollectum.text.secrets.span import Span
from recollectum.text.secrets.tokens import TokenKind, find_tokens, hinted_kinds
from recollectum.text.secrets.values import is_strong_password

_SHORTEST_HINT = 3
_LINE_END = 18
#: The end of a token that is cut; an ordinary line ends in punctuation or a word.
_CUT = re.compile(r"(?=[\w-]{0,5}[0-9A-Z])[\w-]{6}\\?\r?$", re.ASCII)
_BEGINNING = re.compile(r"\w", re.ASCII)
_PERCENT = re.compile("%(?:2[DdEe]|3[Aa]|5[Ff])", re.ASCII)
_ENCODED = re.compile("%([2-7][0-9A-Fa-f])", re.ASCII)
#: The character of each code, in either case.
_CHARACTERS = {high + low: chr(int(high + low, 16)) for high in "234567" for low in "0123456789ABCDEFabcdef"}
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,8192}={0,2}", re.ASCII)


def line_ends(text: str) -> Iterator[str]:
    """Yield the ends of lines that may be the beginning of a token too short for a long word."""
    for line in text.split("\n")[:-1]:
        end = line[-_LINE_END:]
        if not end.islower() and _CUT.search(end):
            yield end


def find_broken(text: str, kinds: Mapping[TokenKind, str]) -> Iterator[Span]:
    """Yield the tokens of these kinds, each with its hint, that a line break divides."""
    if "\n" not in text:
        return
    for kind, hint in kinds.items():
        # Too short a hint is part of many words, and the hint must begin the token.
        if len(hint) < _SHORTEST_HINT or not _BEGINNING.match(hint):
            continue
        for found in _broken(hint).finditer(text):
            head, tail = found["head"], found["tail"]
            for start, end, rank, name in find_tokens(f"{head}{tail}", [kind]):
                # A token that is complete before the break goes on only if the next line looks random.
                whole = any(last == len(head) for _, last, *_ in find_tokens(head, [kind]))
                if start < len(head) < end and (not whole or is_strong_password(tail)):
                    yield found.start() + start, found.start("tail") + end - len(head), rank, name


@cache
def _broken(hint: str) -> re.Pattern[str]:
    # The lookbehind follows the hint, so that the regex engine searches for the literal hint.
    begin = re.escape(hint)
    return re.compile(
        rf"(?P<head>{begin}(?<![\w-]{begin})[\w.-]{{0,400}}+)\\?\r?\n[ \t>]{{0,16}}+(?P<tail>[\w.-]{{4,400}}+)",
        re.ASCII,
    )


def find_percent_encoded(text: str) -> Iterator[Span]:
    """Yield the tokens whose signs are percent-encoded, such as `%5F`."""
    if "%" not in text or not _PERCENT.search(text):
        return
    pieces = _ENCODED.split(text)
    # Every second piece is the code of one character, which took three.
    pieces[1::2] = map(_CHARACTERS.__getitem__, pieces[1::2])
    decoded = "".join(pieces)
    found = list(find_tokens(decoded, hinted_kinds(decoded, decoded.lower(), [decoded])))
    if not found:
        return
    after = [len(piece) for piece in pieces]
    places = _Places(after, [3 if odd % 2 else length for odd, length in enumerate(after)])
    for start, end, rank, kind in found:
        low, high = places.find(start), places.find(end)
        if high - low > end - start:
            yield low, high, rank, kind


class _Places:
    """Maps positions of a decoded text to positions of the original."""

    def __init__(self, after: list[int], before: list[int]) -> None:
        self._after = list(accumulate(after, initial=0))
        self._before = list(accumulate(before, initial=0))

    def find(self, place: int) -> int:
        at = min(bisect_right(self._after, place) - 1, len(self._before) - 1)
        return self._before[at] + place - self._after[at]


def find_in_base64(text: str, words: list[tuple[int, int]]) -> Iterator[Span]:
    """Yield the long words that contain a token when they are decoded."""
    places: list[tuple[int, int]] = []
    decoded: list[str] = []
    for start, end in words:
        plain = _decoded(text[start:end]) if end - start >= 24 else None
        if plain is not None:
            places.append((start, end))
            decoded.append(plain)
    if not decoded:
        return
    ends = list(accumulate(len(plain) + 1 for plain in decoded))
    whole = "\n".join(decoded)
    for start, _, rank, kind in find_tokens(whole, hinted_kinds(whole, whole.lower(), [whole])):
        yield (*places[bisect_right(ends, start)], rank, kind)


def _decoded(word: str) -> str | None:
    """Return the decoded text of a word in base64, or None if it is not ASCII text."""
    if not _BASE64.fullmatch(word):
        return None
    bare = word.rstrip("=")
    try:
        plain = base64.b64decode(
            f"{bare}{'=' * (-len(bare) % 4)}", altchars=b"-_" if "-" in bare or "_" in bare else None
        )
        made = plain.decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return made if made.isprintable() else None
