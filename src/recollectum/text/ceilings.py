"""Computes an upper bound of a text's tokens, for a model whose vocabulary is not installed.

A budget must hold for every text and not only on average, so this is a bound and not an estimate: no text takes more
tokens in OpenAI's two public vocabularies, cl100k and o200k. It follows from these facts (the table beside this module
holds the data, and `tests/text/ceiling_table.py` makes the table from the vocabularies):

- Text is first cut into pieces, such as a word with the space before it, and only bytes of one piece are joined.
- A vocabulary leaves no two neighbouring tokens whose bytes together are a token. So where a pair or triple of letters
  is a token in both, its parts are never neighbours, and the most tokens of a word can be counted (`_most`).
- A common word that is a token in both takes one token with the space before it, and at most two without.
- A character outside ASCII counts for as many tokens as its bytes can begin; a token that reaches into a later
  character is counted there.
- Everything else counts one token for each byte.

The bound is 15 % above the true count for English, half above it for code and Markdown, and two or three times the
count for most other languages, because the table knows English words. A model with another vocabulary may count more;
the 15 % are for it, and a model with fewer than 50,000 entries should be given a smaller budget.
"""

import json
import re
import string
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from recollectum.domain.records import dataclass

_TABLE = Path(__file__).with_name("ceilings.json.z")
#: A mark before a word, the word with the space before it, and the following characters that can be part of it.
_RUN = re.compile(r"([^\n\r 0-9A-Za-z]?)( ?[A-Za-z]+)(?=(['\x80-\U0010ffff]?))")
# Up to 79 spaces in a row are one token, except the last, which belongs to what follows. A space before a mark is part
# of the mark: either the two are joined, or the mark and what comes after it.
_LONE_SPACE = re.compile(r" {1,16}(?= )| (?![A-Za-z ]|[!-/:-@\[-`{-~](?:[\x00-\x7f]|\Z))")
_ODD_SPACE = re.compile(r"[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_ANY_SPACE = re.compile(r" (?![A-Za-z])")
_HUMP = re.compile(r"[a-z][A-Z]")
_COUNTED = (string.ascii_letters + " ").encode()
#: Words are weighed in hundredths of a token; a common word gets some margin for models that split more words.
_WHOLE, _WORD = 100, 115
#: Less than any number of tokens.
_NONE = -1_000_000
_Run = tuple[str, str, str]
#: The longest run that is cached, and the number of cached runs.
_SHORT, _REMEMBERED = 16, 20_000


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts about both vocabularies."""

    #: Words that are one token with the space before them.
    words: frozenset[str]
    #: Two and three letters, the first of which may be a space, that are one token.
    joined: frozenset[str]
    #: The first code points of ranges of characters, and the weight of each range.
    starts: Sequence[int]
    weights: Sequence[int]


@cache
def _known() -> _Known:
    """Return the table; read it on first use, because most programs count nothing."""
    found = cast("Mapping[str, Sequence[str]]", json.loads(zlib.decompress(_TABLE.read_bytes())))
    ranges = cast("Sequence[tuple[int, int]]", found["ranges"])
    return _Known(
        words=frozenset(found["words"]),
        joined=frozenset(found["joined"]),
        starts=[start for start, _ in ranges],
        weights=[weight for _, weight in ranges],
    )


def ceiling(text: str) -> int:
    """Return the most tokens that a text takes; 0 for an empty one."""
    return -(-_weigh(text) // _WHOLE)


class LineCeiling:
    """Computes the same bound, and counts a line once, however many texts it is in; for texts with common lines.

    The lines stay in memory as long as this object, so it should live no longer than one piece of work.
    """

    def __init__(self) -> None:
        self._known = _WeightsOfLines()

    def __call__(self, text: str) -> int:
        """Return the most tokens that a text takes; 0 for an empty one."""
        if not text.isascii() and _ODD_SPACE.search(text):
            # Such a space in one line decides how the spaces of the others are counted.
            return ceiling(text)
        lines = text.split("\n")
        # Nothing is joined across the end of a line, which is a token itself.
        return len(lines) - 1 - (-sum(map(self._known.__getitem__, lines)) // _WHOLE)


class _WeightsOfLines(dict[str, int]):
    def __missing__(self, line: str) -> int:
        weight = self[line] = _weigh(line)
        return weight


def _weigh(text: str) -> int:
    """Return the most tokens that a text takes, in hundredths."""
    runs = sum(map(_WEIGHTS.__getitem__, cast("list[_Run]", _RUN.findall(text))))
    if text.isascii():
        # Deleting what is counted elsewhere and taking the length of the rest is the fastest way to count.
        rest = len(text.encode().translate(None, _COUNTED)) + len(_LONE_SPACE.findall(text))
        return rest * _WHOLE + runs
    chars = sum(_weight_of_char(char) * times for char, times in Counter(text).items())
    # Beside other kinds of spaces, a run of plain spaces may not be joined.
    spaces = _ANY_SPACE if _ODD_SPACE.search(text) else _LONE_SPACE
    return (chars + len(spaces.findall(text))) * _WHOLE + runs


def _weight_of_char(char: str) -> int:
    if char.isascii():
        return int(char != " " and not char.isalpha())
    known = _known()
    return known.weights[bisect_right(known.starts, ord(char)) - 1]


class _Weights(dict[_Run, int]):
    """The weight of each word in its context; short words are cached, keys and digests are not."""

    def __missing__(self, run: _Run) -> int:
        weight = _weight_of_run(*run)
        if len(run[1]) <= _SHORT and len(self) < _REMEMBERED:
            self[run] = weight
        return weight


def _weight_of_run(before: str, run: str, after: str) -> int:
    spaced = run[0] == " "
    if spaced:
        # The piece begins with the space, whatever comes before it.
        before = ""
    if before == "'":
        # A piece may end after "'s" or "'ll".
        return len(run) * _WHOLE
    if run.strip() in _known().words and before.isascii() and after.isascii():
        return _WORD if spaced else 2 * _WHOLE
    # A token that reaches in from the left or out to the right may split what would be joined. One that reaches in from
    # a character outside ASCII is counted here.
    owed = int(not before.isascii())
    return (min(len(run), _most(run) + bool(after) + bool(before)) + owed) * _WHOLE


def _most(run: str) -> int:
    """Return the most tokens that a word can have, if no two neighbours of up to three letters form one token."""
    joined = _known().joined
    # The most tokens up to each position, by the length of the last token: one letter, two, or more; and the best
    # before.
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
    # A piece may end between a small letter and a capital.
    return letters in joined and _HUMP.search(letters) is None


_WEIGHTS = _Weights()
