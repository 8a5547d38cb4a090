"""Ceilings: how many tokens a text takes at the most, for a model whose vocabulary is not at hand.

A budget that is kept only on average is not kept, so this errs upwards: by about a half for English and code, twofold
for scripts that a vocabulary may know only by their bytes. Every character but an ASCII letter has the weight of the
worst case in vocabularies of 100,000 and 200,000 entries. A run of letters has a weight of its own: what looks like a
word takes few tokens, what has pairs of letters that words seldom have (keys, digests, base64) takes one a pair.
Syllables that make no word, and rare Han and Hangul alone, can still take more than this says.
"""

import re
import string
from bisect import bisect_right
from collections import Counter
from operator import add

_TENTHS = 10
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]")
_LONE_SPACE = re.compile(r" {1,16}(?= )| (?![!-/:-~а-яА-Я])")

# The pairs of letters that make up 97 % of English and of the commonest words of six more languages.
_FOLLOWERS = {
    "a": "bcdgiklmnprstuvy",
    "b": "aeijlouy",
    "c": "acehiklortu",
    "d": "adeiosu",
    "e": "acdefgilmnpqrstvwxy",
    "f": "aefiortu",
    "g": "ehilnrsu",
    "h": "aeior",
    "i": "abcdefglmnoprstv",
    "j": "e",
    "k": "e",
    "l": "adefilostuy",
    "m": "abeimopu",
    "n": "acdegilnostuvy",
    "o": "bcdefiklmnoprstuvw",
    "p": "aeiloprty",
    "q": "u",
    "r": "acdegimnorstuy",
    "s": "acehilopstuy",
    "t": "acehiorstuy",
    "u": "abcegilmnprst",
    "v": "aeio",
    "w": "aehino",
    "x": "cept",
    "y": "npst",
    "z": "e",
}
_COMMON = frozenset(first + second for first, seconds in _FOLLOWERS.items() for second in seconds)

#: Tenths of a token: for the first letter of a run, and for each pair in a short word, a long one, capitals, noise.
_START, _PAIR, _LATE_PAIR, _CAPITAL_PAIR, _RARE_PAIR = 10, 1, 4, 5, 10
_SHORT = 6
_WEIGHTLESS = (string.ascii_letters + " ").encode()
#: How long a word is remembered at the most, with seldom pairs and without, and how many are.
_SYLLABLE, _ORDINARY, _REMEMBERED = 4, 12, 10_000

#: From which code point on a character weighs how many tokens.
_RANGES = (
    (0x0000, 1),
    (0x0080, 2),
    (0x0430, 1),  # Cyrillic small letters
    (0x0450, 2),
    (0x0800, 3),
    (0x0900, 2),  # Indic scripts, Thai, Lao
    (0x0F00, 3),
    (0x1E00, 2),  # Latin with several marks, as in Vietnamese
    (0x1F00, 3),
    (0x2000, 2),  # punctuation
    (0x2070, 3),
    (0x2500, 2),  # box drawing
    (0x2580, 3),
    (0x3000, 2),  # kana
    (0x3100, 3),
    # Every third Han character or Hangul syllable takes three tokens in the smaller vocabulary, but those are the
    # rare ones: a sentence takes 1.3 a character, and three for each would halve what a Chinese reader gets.
    (0x4E00, 2),
    (0xA000, 3),
    (0xAC00, 2),
    (0xD7A4, 3),
    (0xFF00, 2),  # wide forms
    (0xFFF0, 3),
    (0x10000, 4),
    (0x1F300, 3),  # emoji
    (0x1FB00, 4),
)
_FROM = [first for first, _ in _RANGES]


def ceiling(text: str) -> int:
    """The most tokens that a text of the ordinary kind takes in any model's vocabulary; 0 for an empty one."""
    runs = sum(map(_WEIGHTS.__getitem__, _RUN.findall(text)))
    if text.isascii():
        # Deleting what weighs nothing and measuring what is left counts at the speed of memory.
        chars = len(text.encode().translate(None, _WEIGHTLESS))
    else:
        chars = sum(_weight_of_char(char) * times for char, times in Counter(text).items())
    # One space is part of the word or mark that follows it; elsewhere, and in a row, it is a token.
    spaces = len(_LONE_SPACE.findall(text))
    return -(-(runs + (chars + spaces) * _TENTHS) // _TENTHS)


def _weight_of_char(char: str) -> int:
    if char == " " or (char.isascii() and char.isalpha()):
        return 0
    return _RANGES[bisect_right(_FROM, ord(char)) - 1][1]


class _Weights(dict[str, int]):
    """What each run of letters weighs; ordinary words are remembered, names and keys are not."""

    def __missing__(self, run: str) -> int:
        weight, rare = _weight_of_run(run)
        if len(run) <= (_SYLLABLE if rare else _ORDINARY) and len(self) < _REMEMBERED:
            self[run] = weight
        return weight


def _weight_of_run(run: str) -> tuple[int, int]:
    """The weight, and how many pairs of letters are such as words seldom have."""
    lower = run.lower()
    pairs = len(run) - 1
    common = sum(map(_COMMON.__contains__, map(add, lower, lower[1:])))
    rare = pairs - common
    if pairs and run.isupper():
        return _START + rare * _RARE_PAIR + common * _CAPITAL_PAIR, rare
    late = max(0, common - _SHORT)
    return _START + rare * _RARE_PAIR + (common - late) * _PAIR + late * _LATE_PAIR, rare


_WEIGHTS = _Weights()
