"""Tells quickly whether a text may tell of a contact, so that only few texts are read by the grammar."""

import re
import unicodedata

from recollectum.text.contacts.addresses import EMAIL, HANDLE, PHONE
from recollectum.text.contacts.vocabulary import RELATIONS

#: A fact about a person is short; a longer text is a document, in which pronouns cannot be resolved.
LONGEST = 2_000
#: The words that make a row of digits a phone number.
CALLED = re.compile(r"(?i:phone|mobile|cell|number|landline|tel|handy|whatsapp|signal)")
#: Keys that say whose address their text is.
KEY = re.compile(r"contact_(?P<who>\w+)|(?P<whose>\w+?)_(?:phone|mobile|cell|number|phone_number|email|e_mail|handle)")
# Every form of the grammar needs an address, a relation, another name, or the word "number".
_ADDRESS = re.compile(rf"{EMAIL}|(?<![\w.@]){HANDLE}|(?<![\w.@+-])(?=[+(0]){PHONE}")
_DIGITS = re.compile(rf"(?<![\w.@+-]){PHONE}")
_NAMED = re.compile(
    r"(?i:\b(?:nickname|nicknamed|goes by|is called|known as|aka|a\.k\.a|short for|number)\b"
    r"|\b(?:i|we|everybody|everyone)\s+calls?\b)"
)
_OWNED = re.compile(r"(?i:\b(?:my|our|have|has)\b|(?:user|owner|person)['\u2019]s)")
_WORDS = re.compile(r"[a-z]+")
_RELATED_WORDS = frozenset(word for relation in RELATIONS for word in _WORDS.findall(relation)[-1:])


def may_mention(text: str, key: str | None = None) -> bool:
    """Return whether a text may tell of a person or an address; False is certain."""
    if len(text) > LONGEST:
        return False
    if not (_OWNED.search(text) or _NAMED.search(text) or "@" in text or any(map(str.isdigit, text))):
        return False
    flat = strip_accents(text if text.isascii() else unicodedata.normalize("NFC", text))
    if _ADDRESS.search(flat) or _NAMED.search(flat):
        return True
    if _DIGITS.search(flat) and (CALLED.search(flat) or KEY.fullmatch(key or "")):
        return True
    return bool(_OWNED.search(flat)) and any(map(_is_relation, _WORDS.findall(flat.casefold())))


def strip_accents(text: str) -> str:
    """Return the text without accents, each character at its position."""
    return text if text.isascii() else "".join(map(_unaccented, text))


def _unaccented(char: str) -> str:
    base = unicodedata.normalize("NFD", char)[0]
    return base if base.isascii() else char


def _is_relation(word: str) -> bool:
    return word in _RELATED_WORDS or word.removesuffix("s") in _RELATED_WORDS
