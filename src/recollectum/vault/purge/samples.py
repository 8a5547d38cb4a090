"""Samples what a purge erases, so that every file can be searched for it afterwards."""

import json
import re
from collections.abc import Iterable
from dataclasses import field

from recollectum.domain.records import dataclass
from recollectum.vault.purge.matching import Outline, OutlineKey

MAX_SAMPLES = 12
_WIDTH = 32
_MIN_LENGTH = 6
#: The latest start of a sample in a text: a long text is split over pages of the file.
_REACH = 400
_WORD = re.compile(r"[A-Za-z0-9]{8,40}")
_TAIL = 6
_VECTOR_BYTES = 64
#: UTF-8, UTF-16, and JSON.
_SPELLINGS = 3
#: An id of this program: events keep the ids of what was erased, so finding one means nothing.
_ID = re.compile(r"[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}", re.IGNORECASE)


@dataclass(slots=True)
class ErasureSamples:
    """A bounded number of samples: of texts, of index terms, and of vectors."""

    texts: list[str] = field(default_factory=list[str])
    #: The ends of words: the index stores a prefix that words share only once.
    terms: list[str] = field(default_factory=list[str])
    vectors: list[bytes] = field(default_factory=list[bytes])
    #: What an interrupted purge kept of its samples.
    outlines: list[Outline] = field(default_factory=list[Outline])
    #: The keys of vaults that were destroyed: a copy of one may lie somewhere.
    keys: list[bytes] = field(default_factory=list[bytes])
    #: Texts that are too short to search for.
    short: int = 0

    def take(self, text: str, vector: bytes | None = None, ids: Iterable[str] = (), *, is_indexed: bool = True) -> None:
        """Keep a sample of a text that is about to be erased, and of its vector; `ids` in it are no content.

        Only of a text that is in the full-text index, the end of a word is a sample too.
        """
        said = _without_ids(text, ids)
        middle = max(0, min(len(said), _REACH) // 2 - _WIDTH // 2)
        piece = said[middle : middle + _WIDTH].strip()
        if len(piece) < _MIN_LENGTH:
            self.short += bool(piece)
        elif len(self.texts) < MAX_SAMPLES and piece not in self.texts:
            self.texts.append(piece)
        word = _WORD.search(said) if is_indexed else None
        if word and len(self.terms) < MAX_SAMPLES and (tail := word[0].lower()[-_TAIL:]) not in self.terms:
            self.terms.append(tail)
        if vector and len(self.vectors) < MAX_SAMPLES:
            self.vectors.append(vector[:_VECTOR_BYTES])

    def __len__(self) -> int:
        """Return how many samples there are."""
        return len(self.texts) + len(self.terms) + len(self.vectors) + len(self.outlines)

    def encoded(self) -> list[bytes]:
        """Return the bytes to search for: texts in each encoding, then terms, then vectors."""
        return [*self._spelled(), *(term.encode() for term in self.terms), *self.vectors]

    def to_outlines(self, key: OutlineKey) -> list[Outline]:
        """Return what may be kept of the samples in a file; ends of words are too short for that."""
        return [key.outline(one) for one in (*self._spelled(), *self.vectors)]

    def at(self, place: int) -> str | bytes:
        """Return what the bytes at an index of `encoded` are: a text, or a vector."""
        texts = _SPELLINGS * len(self.texts)
        if place < texts:
            return self.texts[place % len(self.texts)]
        if place < texts + len(self.terms):
            return self.terms[place - texts]
        return self.vectors[place - texts - len(self.terms)]

    def is_term(self, place: int) -> bool:
        """Return whether the bytes at an index of `encoded` are the end of a word."""
        return _SPELLINGS * len(self.texts) <= place < _SPELLINGS * len(self.texts) + len(self.terms)

    def _spelled(self) -> list[bytes]:
        found = [piece.encode(code, "surrogatepass") for code in ("utf-8", "utf-16-le") for piece in self.texts]
        # As they appear in the JSON of parts, tool calls and transcripts.
        return [*found, *(json.dumps(piece)[1:-1].encode() for piece in self.texts)]


def revealed_text(piece: bytes) -> str | bytes:
    """Return the text that the bytes of an outline spell, or the bytes when they are a vector."""
    code = "utf-16-le" if piece[1::2].count(0) == len(piece) // 2 else "utf-8"
    # An outline may end in the middle of a letter.
    for end in range(len(piece), max(0, len(piece) - 4), -1):
        try:
            return piece[:end].decode(code)
        except UnicodeDecodeError:
            continue
    return piece


def _without_ids(text: str, ids: Iterable[str]) -> str:
    """Return the longest part of a text between ids."""
    for one in ids:
        text = text.replace(one, "\x1f")
    return max(_ID.sub("\x1f", text).split("\x1f"), key=len)
