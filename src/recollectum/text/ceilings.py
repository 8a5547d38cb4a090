"""Ceilings: how many tokens a text takes at the most, for a model whose vocabulary is not at hand.

A budget that is kept only on average is not kept, so this is a bound and not a guess: no text takes more in OpenAI's
two public vocabularies, cl100k and o200k, by what is known about them (the table beside this module says it, and
`tests/text/ceiling_table.py` makes it from them):

- Text is cut into pieces first, a word with the space before it being one, and only bytes of one piece are joined.
- A vocabulary leaves no two neighbouring tokens whose bytes together are a token. So where a pair or triple of letters
  is a token in both, its parts do not stand side by side, and the most tokens of a word can be counted (`_most`).
- A common word that is a token in both takes one with the space before it, and at most two without.
- A character that is not ASCII weighs what its bytes can begin at the most; a token that reaches into a later
  character is paid for by that one.
- Everything else weighs its bytes.

English takes 15 % more than it really does, code and Markdown a half, and most other languages twice or three times:
what is known about words is known about English ones. A model with another vocabulary may count more; the 15 % are for
it, and one below 50,000 entries should be given a smaller budget.
"""

import json
import re
import string
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

_TABLE = Path(__file__).with_name("ceilings.json.z")
#: A mark before a word, the word with the space before it, and what follows if that can be part of it.
_RUN = re.compile(r"([^\n\r 0-9A-Za-z]?)( ?[A-Za-z]+)(?=(['\x80-\U0010ffff]?))")
# Spaces in a row are one token up to 79, but for the last, which belongs to what follows. One before a mark is part of
# it: either the two are joined, or the mark with what comes after it.
_LONE_SPACE = re.compile(r" {1,16}(?= )| (?![A-Za-z ]|[!-/:-@\[-`{-~](?:[\x00-\x7f]|\Z))")
_ODD_SPACE = re.compile(r"[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_ANY_SPACE = re.compile(r" (?![A-Za-z])")
_HUMP = re.compile(r"[a-z][A-Z]")
_COUNTED = (string.ascii_letters + " ").encode()
#: Words are weighed in hundredths of a token, and a common one gets some room for models that split more of them.
_WHOLE, _WORD = 100, 115
#: Fewer than any number of tokens.
_NONE = -1_000_000
_Run = tuple[str, str, str]
#: How long a run is remembered, and how many are.
_SHORT, _REMEMBERED = 16, 20_000


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known about both vocabularies."""

    #: Words that are one token with the space before them.
    words: frozenset[str]
    #: Two and three letters, the first of which may be a space, that are one token.
    joined: frozenset[str]
    #: From which code point on a character weighs how much.
    starts: Sequence[int]
    weights: Sequence[int]


@cache
def _known() -> _Known:
    """The table, read when it is first needed: most programs count nothing."""
    found = cast("Mapping[str, Sequence[str]]", json.loads(zlib.decompress(_TABLE.read_bytes())))
    ranges = cast("Sequence[tuple[int, int]]", found["ranges"])
    return _Known(
        words=frozenset(found["words"]),
        joined=frozenset(found["joined"]),
        starts=[start for start, _ in ranges],
        weights=[weight for _, weight in ranges],
    )


def ceiling(text: str) -> int:
    """The most tokens that a text takes; 0 for an empty one."""
    runs = sum(map(_WEIGHTS.__getitem__, cast("list[_Run]", _RUN.findall(text))))
    if text.isascii():
        # Deleting what is counted elsewhere and measuring what is left counts at the speed of memory.
        rest = len(text.encode().translate(None, _COUNTED)) + len(_LONE_SPACE.findall(text))
        return rest - (-runs // _WHOLE)
    chars = sum(_weight_of_char(char) * times for char, times in Counter(text).items())
    # Among spaces of other kinds a row of ours is not surely joined.
    spaces = _ANY_SPACE if _ODD_SPACE.search(text) else _LONE_SPACE
    return chars + len(spaces.findall(text)) - (-runs // _WHOLE)


def _weight_of_char(char: str) -> int:
    if char.isascii():
        return int(char != " " and not char.isalpha())
    known = _known()
    return known.weights[bisect_right(known.starts, ord(char)) - 1]


class _Weights(dict[_Run, int]):
    """What each word weighs in its place; short ones are remembered, keys and digests are not."""

    def __missing__(self, run: _Run) -> int:
        weight = _weight_of_run(*run)
        if len(run[1]) <= _SHORT and len(self) < _REMEMBERED:
            self[run] = weight
        return weight


def _weight_of_run(before: str, run: str, after: str) -> int:
    spaced = run[0] == " "
    if spaced:
        # The piece begins with the space, whatever stands before it.
        before = ""
    if before == "'":
        # Where "'s" or "'ll" ends, a piece may end.
        return len(run) * _WHOLE
    if run.strip() in _known().words and before.isascii() and after.isascii():
        return _WORD if spaced else 2 * _WHOLE
    # A token that comes in or goes out may break up what would be joined, and one that comes in from a character that
    # is not ASCII is paid for here.
    owed = int(not before.isascii())
    return (min(len(run), _most(run) + bool(after) + bool(before)) + owed) * _WHOLE


def _most(run: str) -> int:
    """The most tokens into which a word can be cut, so that no two neighbours of up to three letters are one token."""
    joined = _known().joined
    # The most up to each place, by how long the last token is: one letter, two, or more; and the best of all before.
    ones, twos, longs, best = [_NONE], [_NONE], [0], [0]
    for end in range(1, len(run) + 1):
        pair = _is_joined(run[max(0, end - 2) : end], joined)
        triple = _is_joined(run[max(0, end - 3) : end], joined)
        one = max(_NONE if pair else ones[-1], _NONE if triple else twos[-1], longs[-1])
        two = max(_NONE if triple else ones[end - 2], twos[end - 2], longs[end - 2]) if end > 1 else _NONE
        ones.append(one + 1)
        twos.append(two + 1)
        longs.append(best[end - 3] + 1 if end > 2 else _NONE)
        best.append(max(best[-1], ones[-1], twos[-1], longs[-1]))
    return max(ones[-1], twos[-1], longs[-1])


def _is_joined(letters: str, joined: frozenset[str]) -> bool:
    # Between a small letter and a capital a piece may end.
    return letters in joined and _HUMP.search(letters) is None


_WEIGHTS = _Weights()
