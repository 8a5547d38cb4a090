"""Makes the table behind `recollectum.text.ceilings` from two real vocabularies; run it as a program to write it anew.

python -m tests.text.ceiling_table src/recollectum/text/ceilings.json.z
"""

import importlib
import json
import re
import sys
import zlib
from collections.abc import Iterator, Set
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import Any

SIZES = {"cl100k_base": 100_256, "o200k_base": 199_998}
#: The commoner words have the lower numbers.
MOST_COMMON = 60_000
_WORD = re.compile(rb" [A-Za-z][a-z]+")
_PAIR = re.compile(rb"[ A-Za-z][A-Za-z]{1,2}")
_CONTRACTIONS = ("s", "t", "re", "ve", "m", "ll", "d", "S", "T", "RE", "VE", "M", "LL", "D")
_BEFORE = "".join(chr(code) for code in range(0x80) if not chr(code).isalnum() and chr(code) not in "\r\n '")


def vocabularies() -> dict[str, list[bytes]]:
    """Every token of both, in the order of their numbers."""
    openai: Any = importlib.import_module("rs_bpe.bpe").openai
    return {
        name: [bytes(getattr(openai, name)().bpe().decode_tokens([number])) for number in range(size)]
        for name, size in SIZES.items()
    }


def counts(text: str) -> int:
    """The tokens of a text in the vocabulary where it has more."""
    openai: Any = importlib.import_module("rs_bpe.bpe").openai
    return max(getattr(openai, name)().count(text) for name in SIZES)


class Tokens:
    """One vocabulary, with what its tokens begin and end with."""

    def __init__(self, tokens: Set[bytes]) -> None:
        self.whole = tokens
        self.heads = {token[:cut] for token in tokens for cut in range(1, min(4, len(token)))}
        tails = [(token[-cut:], token[-cut - 1] >= 0x80) for token in tokens for cut in range(1, min(4, len(token)))]
        #: What a token ends with after a byte that is not ASCII, and after one that is.
        self.tails = {tail for tail, high in tails if high}
        self.ascii_tails = {tail for tail, high in tails if not high}

    def weight(self, data: bytes) -> int:
        """How many tokens the bytes of one character answer for at the most.

        A token that begins in one character and ends in a later one is answered for by the one it ends in.
        """
        found = [1]
        for covered in range(len(data)):
            debt = 0
            if covered:
                if data[:covered] not in self.tails and data[:covered] not in self.ascii_tails:
                    continue
                debt = int(data[:covered] in self.tails)
            found += [debt + own for own in self._starts(data[covered:])]
        return max(found)

    def _starts(self, data: bytes) -> Iterator[int]:
        for parts in _cuts(data):
            *inner, last = parts
            joined = (one + other for one, other in pairwise(inner))
            # A vocabulary leaves no two neighbours that it could join.
            if any(part not in self.whole for part in inner) or any(pair in self.whole for pair in joined):
                continue
            if last in self.whole and not (inner and inner[-1] + last in self.whole):
                yield len(parts)
            if last in self.heads:
                yield len(parts) - 1


def _cuts(data: bytes) -> Iterator[list[bytes]]:
    for count in range(len(data)):
        for cuts in combinations(range(1, len(data)), count):
            borders = (0, *cuts, len(data))
            yield [data[start:end] for start, end in pairwise(borders)]


def weights(all_tokens: list[Tokens], codes: range) -> Iterator[int]:
    """The weight of each character; the planes that nobody writes in get their bytes."""
    for code in codes:
        if 0xD800 <= code < 0xE000:
            yield 1
        elif 0x40000 <= code < 0xE0000 or code >= 0xF0000:
            yield 4
        else:
            data = chr(code).encode()
            yield max(tokens.weight(data) for tokens in all_tokens)


def table() -> dict[str, Any]:
    """The whole table."""
    found = vocabularies()
    all_tokens = [Tokens(set(tokens)) for tokens in found.values()]
    shared = all_tokens[0].whole & all_tokens[1].whole
    common = [token[1:].decode() for token in found["cl100k_base"][:MOST_COMMON] if _WORD.fullmatch(token)]
    words = [word for word in common if f" {word}".encode() in shared and is_sure(word)]
    short = sorted(token.decode() for token in shared if _PAIR.fullmatch(token))
    ranges: list[list[int]] = []
    start = 0x80
    for weight, group in groupby(weights(all_tokens, range(0x80, 0x110000))):
        ranges.append([start, weight])
        start += len(list(group))
    return {"words": sorted(words), "joined": short, "ranges": ranges}


def is_sure(word: str) -> bool:
    """Whether a word counts as the ceilings say, whatever stands around it."""
    return (
        counts(f" {word}") == 1
        and counts(word) <= 2
        and all(counts(f"{char}{word}") <= 3 for char in _BEFORE)
        and all(counts(f" {word}'{end}") <= 2 + len(end) for end in _CONTRACTIONS)
        and all(counts(f"{word}'{end}") <= 3 + len(end) for end in _CONTRACTIONS)
    )


if __name__ == "__main__":
    written = json.dumps(table(), separators=(",", ":")).encode()
    Path(sys.argv[1]).write_bytes(zlib.compress(written, 9))
