"""Words: where they begin and end, and what a compound such as `node.js` or `getUserById` is made of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from recollectum.text.characters import UNSPACED, compose, fold

#: A longer word is several: a megabyte without a space must not become one term.
MAX_WORD = 100

_JOINT = r"(?:[-._@/\\:']{1,3}|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))"


def _piece_pattern(letter: str) -> str:
    # Symbols that belong to a name: .NET before it, C++ and F# after it.
    word = f"{letter}{{1,{MAX_WORD}}}"
    return rf"(?:\.(?=[A-Za-z]))?{word}(?:{_JOINT}{word})*(?:\+\+|[+#](?!{letter}))?"


_ASCII_PIECE = re.compile(_piece_pattern("[A-Za-z0-9]"))


@cache
def _any_piece() -> re.Pattern[str]:
    """A piece in any script; made when it is first needed, because it takes longer than all the rest of the module."""
    # After `fold` every character beyond ASCII is part of a word, so the borders are all in ASCII.
    return re.compile(_piece_pattern(rf"[^\x00-/:-@\[-`{{-\x7f{UNSPACED}]") + f"|[{UNSPACED}]+")


@cache
def _unspaced_char() -> re.Pattern[str]:
    """A character of a script without spaces; as above."""
    return re.compile(f"[{UNSPACED}]")


_SPLIT = re.compile(r"[-._@/\\:']+")
_LAST_SPACED = "\u0dff"
_CAMEL = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# What follows the apostrophe in "Grace's", "I'll" or "we're" says nothing; in "don't" it says everything.
_ENDINGS = frozenset({"s", "re", "ve", "ll", "d", "m"})
_ENDING = re.compile(rf"'(?:{'|'.join(sorted(_ENDINGS))})\Z", re.IGNORECASE)
_NEGATION = re.compile(r"n't\Z", re.IGNORECASE)
_SYMBOL_NAMES = {"+": "plus", "#": "sharp"}


@dataclass(frozen=True, slots=True)
class Piece:
    """One word or compound, or one run of a script without spaces."""

    #: Its smallest words, in order.
    parts: tuple[str, ...]
    #: Other spellings of the whole as one word: `getuserbyid`, `nodejs`, `cplusplus`.
    wholes: tuple[str, ...] = ()
    #: The characters of a script without spaces; a piece that has them has nothing else.
    run: str = ""
    #: True when the parts are words of their own, as in `coffee/tea`, and not only in `camelCase`.
    separable: bool = False


def spellings(text: str) -> list[str]:
    """The pieces of a text as they stand after folding, in order; `analyse` takes each apart."""
    return _ASCII_PIECE.findall(text) if text.isascii() else _any_piece().findall(fold(compose(text)))


def located_pieces(text: str) -> Iterator[tuple[Piece, str]]:
    """The pieces of a text, each with its spelling there."""
    composed = compose(text)
    # Folding may lengthen a character or drop it, so each folded one remembers where it came from.
    origins = range(len(text)) if text.isascii() else [place for place, char in enumerate(composed) for _ in fold(char)]
    for found in _any_piece().finditer(fold(composed)):
        yield analyse(found[0]), composed[origins[found.start()] : origins[found.end() - 1] + 1]


def plain(found: str) -> str | None:
    """The one term of a word that has no inner structure, or None: the quick way for most words."""
    lower = found.lower()
    return lower if found.isalnum() and (found[1:] == lower[1:] or not _CAMEL.search(found)) else None


def contracted(found: str) -> str | None:
    """The one term of such words as "Grace's" and "don't", or None: quicker than to take them apart."""
    stem, mark, rest = found.partition("'")
    if not mark or len(stem) == MAX_WORD:
        return None
    ending = rest.lower()
    if ending == "t" and stem[-1:] in "nN":
        return plain(f"{stem[:-1]}nt")
    return plain(stem) if ending in _ENDINGS else None


def is_unspaced(char: str) -> bool:
    """Whether a folded character belongs to a script without spaces."""
    return char > _LAST_SPACED and _unspaced_char().match(char) is not None


def analyse(found: str) -> Piece:
    """What a piece of folded text is made of."""
    if is_unspaced(found[0]):
        return Piece((), run=found)
    name, symbols = _take_symbols(found)
    name = _NEGATION.sub("nt", _ENDING.sub("", name)).replace(",", "")
    segments = [segment for segment in _SPLIT.split(name) if segment]
    parts = [_term(part) for segment in segments for part in _CAMEL.split(segment)]
    wholes = [_term(segment) for segment in segments if _CAMEL.search(segment)]
    if len(segments) == 2 and all(segment[0].isalpha() for segment in segments) and "@" not in name:
        wholes.append(_term("".join(segments)))
    if symbols:
        wholes.append(_term(_spell(segments, symbols)))
    return Piece(tuple(parts), tuple(dict.fromkeys(wholes)), separable=len(segments) > 1)


def _term(word: str) -> str:
    return word[:MAX_WORD].lower()


def _take_symbols(found: str) -> tuple[str, str]:
    """A name and the symbols around it that belong to it."""
    name = found.lstrip(".").rstrip("+#")
    return name, found.replace(name, "", 1)


def _spell(segments: list[str], symbols: str) -> str:
    """The name with its symbols in words: `dotnet`, `cplusplus`, `fsharp`."""
    if symbols.startswith("."):
        return f"dot{segments[0]}"
    return segments[-1] + "".join(map(_SYMBOL_NAMES.__getitem__, symbols))


def pairs(run: str) -> list[str]:
    """The overlapping pairs of characters in a run."""
    return [run[place : place + 2] for place in range(len(run) - 1)]
