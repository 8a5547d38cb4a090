"""Turns the terms of a chunk into numbers of 64 bits, as the rows of the text index store them."""

import sys
from array import array
from hashlib import blake2b
from typing import Final

from recollectum.storage.full_text.tokenizer import cut_terms
from recollectum.text.terms.analyser import Phrase

#: FTS5 compares only so many bytes of a term.
_LONGEST: Final = 32_768
#: The bits of the number that are a hash; the bits above are the first letter.
_HASH_BITS: Final = 43


class TokenPhrase:
    """The tokens of one phrase of a question, in order."""

    __slots__ = ("prefixes", "tokens")

    def __init__(self, phrase: Phrase) -> None:
        terms = cut_terms(phrase.words)
        #: The first and the last number of the terms that begin with the last word, if that is a prefix.
        self.prefixes: tuple[int, int] | None = None
        if phrase.prefix and terms:
            self.prefixes = _beginning_with(terms.pop())
        self.tokens = [token_of(term) for term in terms]


def token_of(term: str) -> int:
    """Return the number of a term: its first letter, then a hash; terms with one first letter are one range."""
    digest = blake2b(term.encode()[:_LONGEST], digest_size=8).digest()
    return ord(term[0]) << _HASH_BITS | int.from_bytes(digest, "little") >> (64 - _HASH_BITS)


class KnownTokens(dict[str, int]):
    """The numbers of terms, each made once."""

    def __missing__(self, term: str) -> int:
        """Make the number of a new term."""
        token = self[term] = token_of(term)
        return token


def pack_tokens(text: str, known: KnownTokens) -> bytes:
    """Return the tokens of a text, eight bytes each; `known` remembers the numbers of terms between texts."""
    tokens = array("Q", map(known.__getitem__, cut_terms(text)))
    if sys.byteorder == "big":
        tokens.byteswap()
    return tokens.tobytes()


def _beginning_with(term: str) -> tuple[int, int]:
    if len(term) != 1:
        raise ValueError(f"the prefix {term!r} is longer than one letter; search for whole words or one letter")
    return ord(term) << _HASH_BITS, (ord(term) + 1 << _HASH_BITS) - 1
