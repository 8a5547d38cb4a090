"""Pieces of what is erased, kept in memory alone, to search every file for afterwards."""

import json
import re
from dataclasses import dataclass, field

_MOST = 12
_WIDTH = 32
_LEAST = 6
#: From where in a text a piece is taken at the latest: a long text is split over pages of the file.
_REACH = 400
_WORD = re.compile(r"[A-Za-z0-9]{8,40}")
_TAIL = 6
_VECTOR_BYTES = 64
#: UTF-8, UTF-16, and JSON.
_SPELLINGS = 3


@dataclass(slots=True)
class Needles:
    """A bounded number of pieces: of texts, of index terms, and of vectors."""

    texts: list[str] = field(default_factory=list[str])
    #: The ends of words: the index writes the beginnings that words share only once.
    terms: list[str] = field(default_factory=list[str])
    vectors: list[bytes] = field(default_factory=list[bytes])

    def take(self, text: str, vector: bytes | None = None) -> None:
        """Keep a piece of a text that is about to go, and of its vector."""
        middle = max(0, min(len(text), _REACH) // 2 - _WIDTH // 2)
        piece = text[middle : middle + _WIDTH].strip()
        if len(piece) >= _LEAST and len(self.texts) < _MOST and piece not in self.texts:
            self.texts.append(piece)
        word = _WORD.search(text)
        if word and len(self.terms) < _MOST and (tail := word[0].lower()[-_TAIL:]) not in self.terms:
            self.terms.append(tail)
        if vector and len(self.vectors) < _MOST:
            self.vectors.append(vector[:_VECTOR_BYTES])

    def __len__(self) -> int:
        """How many there are."""
        return len(self.texts) + len(self.terms) + len(self.vectors)

    def encoded(self) -> list[bytes]:
        """The bytes to search for: texts in each spelling, then terms, then vectors."""
        found = [piece.encode(code, "surrogatepass") for code in ("utf-8", "utf-16-le") for piece in self.texts]
        # As they stand in the JSON of parts, tool calls and transcripts.
        escaped = [json.dumps(piece)[1:-1].encode() for piece in self.texts]
        return [*found, *escaped, *(term.encode() for term in self.terms), *self.vectors]

    def at(self, place: int) -> str | bytes:
        """What the bytes at a place of `encoded` are: a text, or a vector."""
        texts = _SPELLINGS * len(self.texts)
        if place < texts:
            return self.texts[place % len(self.texts)]
        if place < texts + len(self.terms):
            return self.terms[place - texts]
        return self.vectors[place - texts - len(self.terms)]

    def is_term(self, place: int) -> bool:
        """Whether the bytes at a place of `encoded` are the end of a word."""
        return _SPELLINGS * len(self.texts) <= place < _SPELLINGS * len(self.texts) + len(self.terms)
