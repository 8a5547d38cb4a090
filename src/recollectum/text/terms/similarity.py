"""Compares two texts: equal fingerprints, equal outlines, and Jaccard similarity of their terms."""

import re
import unicodedata
from hashlib import blake2b
from string import ascii_lowercase, digits

from recollectum.text.cleaning import clean
from recollectum.text.terms.analyser import index_terms

#: Changes when the rules below do, so that old fingerprints never equal new ones.
_VERSION = "f1"
_DIGEST_BYTES = 16

_FILLERS = frozenset({"a", "an", "the", "please", "just", "really", "very"})
_OUTLINE = frozenset(ascii_lowercase + digits) - frozenset("".join(_FILLERS))
# Apostrophes and invisible characters separate no words: "don't" and "dont" are one.
# Of them only the first is ASCII.
_VANISHING = re.compile("['’‘ʼ\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
# A sign inside a number or a minus before it changes the number; other punctuation only shapes the sentence.
_NUMBER = r"(?:(?<!\S)-(?=\d))?\d(?:[\d.,:/-]*\d)?"
_WORDS = re.compile(rf"{_NUMBER}|[^\W\d_]+|\S")
# The same for ASCII in lower case, without the signs that carry no meaning: JSON is full of them.
_ASCII_WORDS = re.compile(rf"{_NUMBER}|[a-z]+|[#%&@$+<=>^|~]")
_SILENT = ("P", "Z", "Cc", "Cf")
# Signs that Unicode classifies as punctuation although they name things: C#, 5 %, A & B, user@host.
_TELLING = frozenset("#%&@")
_BACKTICK = "`"


class _Outlined(dict[int, int | None]):
    """A table for `str.translate` that keeps the characters of an outline."""

    def __missing__(self, char: int) -> None:
        # Not stored in the table, which would grow with every new character.
        return None


_OUTLINED = _Outlined({char: None for char in range(128)} | {ord(char): ord(char) for char in _OUTLINE})


def fingerprint(text: str) -> str:
    """Return a digest of a text that ignores case, Unicode form, punctuation, spacing and English filler words."""
    plain = _plainly_said(text) if text.isascii() else None
    said = "\x1f".join(_said(text)).encode() if plain is None else b"\x1f".join(plain)
    # A text of fillers alone equals only itself.
    whole = said or b"\x1e" + clean(text).encode()
    return f"{_VERSION}:{blake2b(whole, digest_size=_DIGEST_BYTES).hexdigest()}"


def outline(text: str) -> str:
    """Return a cheap key that is equal for texts with one fingerprint, and seldom for others."""
    # No filler has one of these letters, and nothing else is dropped that has one or is a digit.
    return _folded(text).translate(_OUTLINED)


def says_the_same(a: str, b: str) -> bool:
    """Return whether two texts have the same fingerprint."""
    return a == b or fingerprint(a) == fingerprint(b)


def _folded(text: str) -> str:
    cleaned = clean(text)
    if cleaned.isascii():
        return cleaned.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cleaned).casefold())


def _plainly_said(text: str) -> list[bytes] | None:
    """Return what `_said` returns, much faster; None if the ASCII text has a number or a sign that carries meaning."""
    plain = text.encode().translate(_PLAIN_LETTERS, b"'")
    if b"\0" in plain:
        return None
    words = plain.split()
    if _PLAIN_FILLERS.isdisjoint(words):
        return words
    kept = [word for word in words if word not in _PLAIN_FILLERS]
    return [*kept, b"a"] if kept and words[-1] == b"a" else kept


def _said(text: str) -> list[str]:
    """Return the words, numbers and symbols of a text that carry meaning."""
    folded = _folded(text)
    if folded.isascii():
        words = _ASCII_WORDS.findall(folded.replace("'", ""))
    else:
        found = _WORDS.findall(_VANISHING.sub("", folded).replace("−", "-"))
        words = [word for word in found if len(word) > 1 or _counts(word)]
    kept = [word for word in words if word not in _FILLERS]
    # At the end it is no article: "vitamin A" is not "vitamin".
    return [*kept, "a"] if kept and words[-1] == "a" else kept


def _counts(word: str) -> bool:
    """Return whether a word of one character carries meaning."""
    if word in _TELLING:
        return True
    return word != _BACKTICK and not unicodedata.category(word).startswith(_SILENT)


#: For each ASCII character its lower case if it is a letter, 0 if it carries meaning otherwise, and else a space.
_PLAIN_LETTERS = bytes(
    ord(char.lower()) if char.isalpha() else 0 if char == "\0" or _counts(char) else ord(" ")
    for char in map(chr, range(128))
).ljust(256, b"\0")
_PLAIN_FILLERS = frozenset(word.encode() for word in _FILLERS)


def jaccard(a: str, b: str) -> float:
    """Return the Jaccard similarity of two texts: the share of all their terms that both have, from 0 to 1."""
    first, second = set(index_terms(a).split()), set(index_terms(b).split())
    union = first | second
    return len(first & second) / len(union) if union else 1.0
