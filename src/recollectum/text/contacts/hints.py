"""Tells quickly whether a text may tell of a contact, so that only few texts are read by the grammar."""

import re
import unicodedata
from functools import cache

from recollectum.text.contacts.addresses import EMAIL, HANDLE, PHONE
from recollectum.text.contacts.vocabulary import RELATIONS
from recollectum.text.word_look import WordLook

#: A fact about a person is short; a longer text is a document, in which pronouns cannot be resolved.
LONGEST = 2_000
#: The words that make a row of digits a phone number.
CALLED = re.compile(r"(?i:phone|mobile|cell|number|landline|tel|handy|whatsapp|signal)")
#: Keys that say whose address their text is.
KEY = re.compile(r"contact_(?P<who>\w+)|(?P<whose>\w+?)_(?:phone|mobile|cell|number|phone_number|email|e_mail|handle)")
# Every form of the grammar needs an address, a relation, another name, or the word "number".
_NAMED = re.compile(
    r"(?i:\b(?:nickname|nicknamed|goes by|is called|known as|aka|a\.k\.a|short for|number)\b"
    r"|\b(?:i|we|everybody|everyone)\s+calls?\b)"
)
_OWNED = re.compile(r"(?i:\b(?:my|our|have|has)\b|(?:user|owner|person)['\u2019]s)")
# One of these parts is in every plain text in which a pattern finds something. Looking for them is much faster.
_PARTS_OF_NAMED = ("number", "call", "known as", "nickname", "goes by", "short for", "aka", "a.k.a")
_PARTS_OF_OWNED = ("my", "our", "have", "has", "'s")
# What each step of `may_mention` needs in one word of an ASCII text, whatever else it needs.
_TELLING_WORD = re.compile(
    r"(?i:[0-9@+(]|(?:user|owner|person)'s"
    r"|\b(?:nickname|nicknamed|goes|called|known|aka|a\.k\.a|short|number|calls?|my|our|have|has)\b)"
)
_PARTS_OF_CALLED = ("phone", "mobile", "cell", "number", "tel", "handy", "whatsapp", "signal", "landline")
# A number has at least six digits. A search that begins with signs is much faster than one that looks back first.
_MAY_BE_PHONE = re.compile(r"[+(0](?<![\w.@+-].)[\d \u00a0().\-/\u2011]{5}")
_DIGIT = re.compile("[0-9]")
_WORDS = re.compile(r"[a-z]+")
_RELATED_WORDS = frozenset(
    form for relation in RELATIONS for word in _WORDS.findall(relation)[-1:] for form in (word, f"{word}s")
)
#: All ASCII characters but small letters, as spaces.
_LETTERS_ALONE = bytes(char if chr(char).islower() else ord(" ") for char in range(128)).ljust(256)


# Compiled at the first text that needs it, because that is slow.
@cache
def _address() -> re.Pattern[str]:
    return re.compile(rf"{EMAIL}|(?<![\w.@]){HANDLE}|(?<![\w.@+-])(?=[+(0]){PHONE}")


@cache
def _digits() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.@+-]){PHONE}")


def may_mention(text: str, key: str | None = None) -> bool:
    """Return whether a text may tell of a person or an address; False is certain."""
    if len(text) > LONGEST:
        return False
    if text.isascii():
        digits, flat = _DIGIT.search(text) is not None, text
    else:
        digits, flat = any(map(str.isdigit, text)), strip_accents(unicodedata.normalize("NFC", text))
        if not (digits or "@" in text or _OWNED.search(text) or _NAMED.search(text)):
            return False
    lower = flat.lower()
    if _has_part(flat, lower, _PARTS_OF_NAMED) and _NAMED.search(flat):
        return True
    if ("@" in flat or _MAY_BE_PHONE.search(flat)) and _address().search(flat):
        return True
    called = digits and ((_has_part(flat, lower, _PARTS_OF_CALLED) and CALLED.search(flat)) or KEY.fullmatch(key or ""))
    if called and _digits().search(flat):
        return True
    # The words first: they are found more quickly than the pattern.
    return _has_part(flat, lower, _PARTS_OF_OWNED) and _has_relation(flat, lower) and _OWNED.search(flat) is not None


@cache
def word_look() -> WordLook:
    """Return the look that an ASCII text passes only if `may_mention` is false of it, under any key."""
    return WordLook((*_PARTS_OF_NAMED, *_PARTS_OF_OWNED, "@", "+", "("), _DIGIT, sure=_TELLING_WORD)


def _has_part(text: str, lower: str, parts: tuple[str, ...]) -> bool:
    """Return whether the pattern of these parts may match; only plain text tells."""
    # A list is quicker than `any`, which starts a generator.
    return not text.isascii() or bool([part for part in parts if part in lower])


def strip_accents(text: str) -> str:
    """Return the text without accents, each character at its position."""
    return text if text.isascii() else "".join(map(_unaccented, text))


def _unaccented(char: str) -> str:
    base = unicodedata.normalize("NFD", char)[0]
    return base if base.isascii() else char


def _has_relation(text: str, lower: str) -> bool:
    if text.isascii():
        words = lower.encode().translate(_LETTERS_ALONE).decode().split()
    else:
        words = _WORDS.findall(text.casefold())
    return not _RELATED_WORDS.isdisjoint(words)
