"""Splits a text into folded words and compounds such as `node.js`, as FTS5's `unicode61` tokenizer will see them."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from recollectum.domain.records import dataclass

# Scripts written without spaces: word borders are invisible, so overlapping pairs of characters stand for words.
# Regional indicators are included because a flag is a pair of them.
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
# Marks that change a letter into another letter. All other marks are accents, which a search ignores.
_MEANINGFUL_MARKS = ((0x0900, 0x1AAF), (0x1B00, 0x1CFF), (0xA800, 0xABFF), (0x10A00, 0x10A3F), (0x11000, 0x11FFF))
# Letters that `unicode61`, whose tables are older, treats as marks.
_LATE_LETTERS = ((0x19B0, 0x19C9), (0x1CF2, 0x1CF3))
_REGIONAL_INDICATORS = (0x1F1E6, 0x1F1FF)
_SKIN_TONES = (0x1F3FB, 0x1F3FF)
_PICTOGRAPHS = (0x1F000, 0x1FFFF)
# Two halves of private-use plane 15, so that a replaced character still shows whether its script has spaces.
_SPACED_PLANE = 0xF0000
_UNSPACED_PLANE = 0xF8000
_PLANE_SIZE = 0x7FF0
_LEARNED = 20_000
_APOSTROPHES = frozenset("\u2018\u2019\u02bc\u055a")
_HYPHENS = frozenset("\u2010\u2011\u2212")
_FRACTION_SLASH = "\u2044"
#: A regex character class, without its brackets, of the characters written without spaces after `fold`.
UNSPACED = "".join(f"{chr(low)}-{chr(high)}" for low, high in _UNSPACED) + "\U000f8000-\U000ffff0"


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= code <= high for low, high in ranges)


def _private(code: int) -> str:
    plane = _UNSPACED_PLANE if _within(code, _UNSPACED) else _SPACED_PLANE
    return chr(plane + code % _PLANE_SIZE)


def _folded(char: str) -> str:
    """Return the folded form of one character beyond ASCII."""
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
    # A pictograph newer than Python's tables is still a pictograph.
    if category in ("So", "Sc", "Sm", "Co") or (category == "Cn" and _within(code, (_PICTOGRAPHS,))):
        return "/" if char == _FRACTION_SLASH else f" u{code:x} "
    # `unicode61` treats unassigned characters as letters, which they may become; nothing is gained by dropping them.
    return char if category[0] in "LN" or category == "Cn" else " "


class _Fold(dict[int, str]):
    """A table for `str.translate` that computes a character on first use."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = char if code < 0x80 else "".join(c if c.isascii() else _folded(c) for c in char.casefold())
        # A text with every possible character must not make the table grow without limit.
        if len(self) < _LEARNED:
            self[code] = folded
        return folded


_FOLD = _Fold()


@cache
def _others() -> re.Pattern[str]:
    """Return the pattern of letters that may fold to others; compile it on first use, because that is slow."""
    # Without the most frequent letters that fold to themselves, folding is several times as fast.
    return re.compile("[^\x00-\x7fà-öø-ÿа-џぁ-ゖァ-ヺー一-鿿가-힣]+")


def fold(composed: str) -> str:
    """Return text from `compose` with every character as it is indexed, except for the case of ASCII letters."""
    return composed if composed.isascii() else _others().sub(_fold_run, composed)


def _fold_run(found: re.Match[str]) -> str:
    return found[0].translate(_FOLD)


def compose(text: str) -> str:
    """Return the text in the Unicode form in which equal-looking characters are equal."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


#: A longer word is split: a megabyte without a space must not become one term.
MAX_WORD = 100
_JOINT = r"(?:[-._@/\\:']{1,3}|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))"


def _piece_pattern(letter: str) -> str:
    # Symbols that are part of a name: .NET before it, C++ and F# after it.
    word = f"{letter}{{1,{MAX_WORD}}}"
    return rf"(?:\.(?=[A-Za-z]))?{word}(?:{_JOINT}{word})*(?:\+\+|[+#](?!{letter}))?"


_ASCII_PIECE = re.compile(_piece_pattern("[A-Za-z0-9]"))


@cache
def _any_piece() -> re.Pattern[str]:
    """Return the pattern of a piece in any script; compile it on first use, because that is slow."""
    # After `fold` every character beyond ASCII is part of a word, so all borders are ASCII characters.
    return re.compile(_piece_pattern(rf"[^\x00-/:-@\[-`{{-\x7f{UNSPACED}]") + f"|[{UNSPACED}]+")


@cache
def _unspaced_char() -> re.Pattern[str]:
    """Return the pattern of a character of a script without spaces; compile it on first use."""
    return re.compile(f"[{UNSPACED}]")


_SPLIT = re.compile(r"[-._@/\\:']+")
_LAST_SPACED = "\u0dff"
_CAMEL = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# The ending after the apostrophe in "Grace's", "I'll" or "we're" says nothing; in "don't" it says everything.
_ENDINGS = frozenset({"s", "re", "ve", "ll", "d", "m"})
_ENDING = re.compile(rf"'(?:{'|'.join(sorted(_ENDINGS))})\Z", re.IGNORECASE)
_NEGATION = re.compile(r"n't\Z", re.IGNORECASE)
_SYMBOL_NAMES = {"+": "plus", "#": "sharp"}


@dataclass(frozen=True, slots=True)
class WordForms:
    """One word or compound, or one run of a script without spaces."""

    #: Its smallest words, in order.
    parts: tuple[str, ...]
    #: Other spellings of the whole as one word: `getuserbyid`, `nodejs`, `cplusplus`.
    wholes: tuple[str, ...] = ()
    #: The characters of a script without spaces; a piece that has them has nothing else.
    run: str = ""
    #: True when the parts are separate words, as in `coffee/tea`, and not only in `camelCase`.
    separable: bool = False


def spellings(text: str) -> list[str]:
    """Return the folded pieces of a text, in order; `analyse` splits each."""
    return _ASCII_PIECE.findall(text) if text.isascii() else _any_piece().findall(fold(compose(text)))


def located_pieces(text: str) -> Iterator[tuple[WordForms, str]]:
    """Yield the pieces of a text, each with its original spelling."""
    composed = compose(text)
    # Folding may lengthen or drop a character, so each folded character keeps the position of its original.
    origins = range(len(text)) if text.isascii() else [place for place, char in enumerate(composed) for _ in fold(char)]
    folded = fold(composed)
    for found in (_ASCII_PIECE if folded.isascii() else _any_piece()).finditer(folded):
        yield analyse(found[0]), composed[origins[found.start()] : origins[found.end() - 1] + 1]


def plain(found: str) -> str | None:
    """Return the only term of a word without inner structure, or None: the fast path for most words."""
    lower = found.lower()
    return lower if found.isalnum() and (found[1:] == lower[1:] or not _CAMEL.search(found)) else None


def contracted(found: str) -> str | None:
    """Return the only term of words such as "Grace's" and "don't", or None: faster than splitting them."""
    stem, mark, rest = found.partition("'")
    if not mark or len(stem) == MAX_WORD:
        return None
    ending = rest.lower()
    if ending == "t" and stem[-1:] in "nN":
        return plain(f"{stem[:-1]}nt")
    return plain(stem) if ending in _ENDINGS else None


def is_unspaced(char: str) -> bool:
    """Return whether a folded character belongs to a script without spaces."""
    return char > _LAST_SPACED and _unspaced_char().match(char) is not None


def analyse(found: str) -> WordForms:
    """Return the word forms of a piece of folded text."""
    if found.isascii() and found.isalnum() and found.islower():
        # Most words of a question: nothing to split, and nothing to spell otherwise.
        return WordForms((found[:MAX_WORD],))
    if is_unspaced(found[0]):
        return WordForms((), run=found)
    name, symbols = _take_symbols(found)
    if "'" in name:
        name = _NEGATION.sub("nt", _ENDING.sub("", name))
    name = name.replace(",", "")
    segments = [segment for segment in _SPLIT.split(name) if segment]
    if name == name.lower():
        # No segment has an inner capital; numbers, dates and addresses have many segments.
        parts, wholes = [segment[:MAX_WORD] for segment in segments], list[str]()
    else:
        parts = [_term(part) for segment in segments for part in _CAMEL.split(segment)]
        wholes = [_term(segment) for segment in segments if _CAMEL.search(segment)]
    if len(segments) == 2 and all(segment[0].isalpha() for segment in segments) and "@" not in name:
        wholes.append(_term("".join(segments)))
    if symbols:
        wholes.append(_term(_spell(segments, symbols)))
    return WordForms(tuple(parts), tuple(dict.fromkeys(wholes)), separable=len(segments) > 1)


def _term(word: str) -> str:
    return word[:MAX_WORD].lower()


def _take_symbols(found: str) -> tuple[str, str]:
    """Return a name and the adjacent symbols that belong to it."""
    name = found.lstrip(".").rstrip("+#")
    return name, found.replace(name, "", 1)


def _spell(segments: list[str], symbols: str) -> str:
    """Return the name with its symbols as words: `dotnet`, `cplusplus`, `fsharp`."""
    if symbols.startswith("."):
        return f"dot{segments[0]}"
    return segments[-1] + "".join(map(_SYMBOL_NAMES.__getitem__, symbols))


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters in a run."""
    return [run[place : place + 2] for place in range(len(run) - 1)]
