"""Turns the terms of a chunk into numbers of 64 bits, as the rows of the text index store them."""

import sys
from array import array
from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final

from recollectum.storage.full_text.tokenizer import cut_terms
from recollectum.text.terms.analyser import Phrase

#: FTS5 compares only so many bytes of a term.
_LONGEST: Final = 32_768
#: The bits of the number that are a hash; the bits above are the first letter.
_HASH_BITS: Final = 43
_DROPPED: Final = 64 - _HASH_BITS
#: So many words of one transaction are remembered.
_MOST_WORDS: Final = 50_000


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
    return ord(term[0]) << _HASH_BITS | int.from_bytes(digest, "little") >> _DROPPED


class KnownTokens(dict[str, bytes]):
    """The tokens of words without spaces as they are stored, eight bytes each; each word is cut once."""

    def learn(self, words: set[str]) -> None:
        """Cut new words, all together where each is one term for certain."""
        fresh = [*words.difference(self, ("",))][:_MOST_WORDS]
        if not "".join(fresh).isalnum():
            fresh = [word for word in fresh if word.isalnum()]
        if not "".join(fresh).isascii():
            fresh = [word for word in fresh if word.isascii()]
        packed = _packed(cut_terms(" ".join(fresh)))
        self.update(zip(fresh, [packed[at : at + 8] for at in range(0, len(packed), 8)], strict=True))

    def __missing__(self, word: str) -> bytes:
        """Cut a word that is new, or of which there were too many."""
        packed = _packed(cut_terms(word))
        if len(self) < _MOST_WORDS:
            self[word] = packed
        return packed


def pack_tokens(text: str, known: KnownTokens) -> bytes:
    """Return the tokens of a text, eight bytes each; `known` remembers those of words between texts."""
    return pack_each([text], known)[0]


def pack_each(texts: Sequence[str], known: KnownTokens) -> list[bytes]:
    """Return the tokens of each text."""
    # A space ends every term, so the terms of a text are those of its words.
    words = " ".join(texts).split(" ")
    if len(texts) > 1 and len(known) < _MOST_WORDS:
        known.learn(set(words))
    packed = map(known.__getitem__, words)
    return [b"".join(islice(packed, text.count(" ") + 1)) for text in texts]


def _packed(terms: Sequence[str]) -> bytes:
    """Return what `token_of` returns for each term, as it is stored."""
    encoded = [term.encode() for term in terms]
    if max(map(len, encoded), default=0) > _LONGEST:
        encoded = [one[:_LONGEST] for one in encoded]
    hashes = array("Q", b"".join([blake2b(one, digest_size=8).digest() for one in encoded]))
    if sys.byteorder == "big":
        hashes.byteswap()
    letters = [term[0] for term in terms]
    tokens = array("Q", [ord(one) << _HASH_BITS | hash >> _DROPPED for one, hash in zip(letters, hashes, strict=True)])
    if sys.byteorder == "big":
        tokens.byteswap()
    return tokens.tobytes()


def _beginning_with(term: str) -> tuple[int, int]:
    if len(term) != 1:
        raise ValueError(f"the prefix {term!r} is longer than one letter; search for whole words or one letter")
    return ord(term) << _HASH_BITS, (ord(term) + 1 << _HASH_BITS) - 1
