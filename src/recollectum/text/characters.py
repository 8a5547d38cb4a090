"""Characters as the full-text index sees them: letters folded, symbols spelled out, telling marks kept.

FTS5's `unicode61` tokenizer takes letters, digits and private-use characters for parts of a word and everything else
for a border. A vowel sign of Hindi or Thai would so cut a word in pieces, and an emoji would vanish. Both are written
here as something that the tokenizer keeps: a mark as one private-use character, a symbol as a word such as `u1f600`.
"""

import re
import unicodedata

# Scripts written without spaces: a word cannot be seen, so overlapping pairs of characters stand for words.
# Regional indicators are among them because a flag is a pair of them.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Lanna
    (0x1B00, 0x1B7F),  # Balinese
    (0x3005, 0x3007),  # ideographic iteration, closing mark and zero
    (0x3040, 0x312F),  # kana, bopomofo
    (0x31A0, 0x31BF),  # bopomofo extended
    (0x31F0, 0x31FF),  # kana extended
    (0x3400, 0x4DBF),  # Han A
    (0x4E00, 0xA4CF),  # Han, Yi
    (0xA960, 0xA9FF),  # Hangul letters A, Javanese, Myanmar B
    (0xAA60, 0xAADF),  # Myanmar A, Tai Viet
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),  # Han compatibility
    (0x1AFF0, 0x1B2FF),  # kana supplements, Nüshu
    (0x1F1E6, 0x1F1FF),  # regional indicators
    (0x20000, 0x3FFFF),  # Han B and later
)
# Marks that make another letter of the one they stand on. All other marks are accents, which a search ignores.
_MEANINGFUL_MARKS = ((0x0900, 0x1AAF), (0x1B00, 0x1CFF), (0xA800, 0xABFF), (0x10A00, 0x10A3F), (0x11000, 0x11FFF))
# Letters that `unicode61`, whose tables are older, still takes for marks.
_LATE_LETTERS = ((0x19B0, 0x19C9), (0x1CF2, 0x1CF3))
_REGIONAL_INDICATORS = (0x1F1E6, 0x1F1FF)
_SKIN_TONES = (0x1F3FB, 0x1F3FF)
_PICTOGRAPHS = (0x1F000, 0x1FFFF)

# Two halves of private-use plane 15, so that a rewritten character still shows whether its script has spaces.
_SPACED_PLANE = 0xF0000
_UNSPACED_PLANE = 0xF8000
_PLANE_SIZE = 0x7FF0
_LEARNED = 20_000

_APOSTROPHES = frozenset("\u2018\u2019\u02bc\u055a")
_HYPHENS = frozenset("\u2010\u2011\u2212")
_FRACTION_SLASH = "\u2044"

#: A regular expression's character class, without its brackets, of what is written without spaces after `fold`.
UNSPACED = "".join(f"{chr(low)}-{chr(high)}" for low, high in _UNSPACED) + "\U000f8000-\U000ffff0"


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= code <= high for low, high in ranges)


def _private(code: int) -> str:
    plane = _UNSPACED_PLANE if _within(code, _UNSPACED) else _SPACED_PLANE
    return chr(plane + code % _PLANE_SIZE)


def _folded(char: str) -> str:
    """What one character beyond ASCII becomes."""
    code = ord(char)
    category = unicodedata.category(char)
    if char in _APOSTROPHES:
        return "'"
    if char in _HYPHENS:
        return "-"
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category[0] == "M":
        return _private(code) if _within(code, _MEANINGFUL_MARKS) or _within(code, _UNSPACED) else ""
    if _within(code, (*_LATE_LETTERS, _REGIONAL_INDICATORS)):
        return _private(code)
    return _folded_other(char, code, category)


def _folded_other(char: str, code: int, category: str) -> str:
    if category == "Cf" or _within(code, (_SKIN_TONES,)):
        return ""
    # A pictograph younger than Python's tables is still a pictograph.
    if category in ("So", "Sc", "Sm", "Co") or (category == "Cn" and _within(code, (_PICTOGRAPHS,))):
        return "/" if char == _FRACTION_SLASH else f" u{code:x} "
    # `unicode61` takes unassigned characters for letters, and so they may become; nothing is gained by dropping them.
    return char if category[0] in "LN" or category == "Cn" else " "


class _Fold(dict[int, str]):
    """A table for `str.translate` that learns a character when it first meets it."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = char if code < 0x80 else "".join(c if c.isascii() else _folded(c) for c in char.casefold())
        # A text made of every character there is must not make the table grow without end.
        if len(self) < _LEARNED:
            self[code] = folded
        return folded


_FOLD = _Fold()
# The commonest letters that fold to themselves; looking only at the others makes folding several times as fast.
_OTHERS = re.compile("[^\x00-\x7fà-öø-ÿа-џぁ-ゖァ-ヺー一-鿿가-힣]+")


def fold(composed: str) -> str:
    """Text from `compose` with every character as it is indexed, but for the case of ASCII letters."""
    return _OTHERS.sub(_fold_run, composed)


def _fold_run(found: re.Match[str]) -> str:
    return found[0].translate(_FOLD)


def compose(text: str) -> str:
    """The text in the one form in which equal-looking characters are equal."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
