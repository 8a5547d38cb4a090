"""Finds the keys of wallets: seed phrases, keys in the wallet import format and keys in hexadecimal digits."""

import hashlib
import re
from collections.abc import Iterator
from functools import cache

from recollectum.text.secrets.span import Span

_RANK = 1
# Each alternative begins with a letter, so that the regex engine skips all other text at once.
_NAMES = "|".join(rf"{whose}[ _-]?(?:phrase|words?)" for whose in ("seed", "recovery", "backup", "wallet"))


# Compiled at the first text that needs it, because that is slow.
@cache
def _phrase() -> re.Pattern[str]:
    return re.compile(
        rf"(?:mnemonic|{_NAMES})[^\n:=]{{0,40}}?(?:[:=]| (?:is|are|-))\s{{0,3}}"
        r"[\"'`]?(?P<secret>(?:[a-z]{3,8}+(?:, |[ ,\n])){11,23}[a-z]{3,8}+)(?![a-z])",
        re.ASCII,
    )


HINTS = ("mnemonic", "phrase", "seed", "recovery word", "backup word")
#: Words of sentences that are in no list of seed words.
_PROSE_WORDS = (
    "and are but for from has have her his how into its not our the them they was were what when where which who "
    "with your"
)
_PROSE = frozenset(_PROSE_WORDS.split())
#: The first byte of a key is 0x80, which gives its first two digits in base 58.
_WIF = re.compile("(?:5[HJK]|K[w-z]|L[1-5])[1-9A-HJ-NP-Za-km-z]{49,50}", re.ASCII)
#: The value of each digit in base 58.
_BASE58 = bytes.maketrans(b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", bytes(range(58)))
_HEX = re.compile("(?:0x)?[0-9a-f]{64}", re.ASCII)
_NAMED = re.compile(r"private[ _-]?key", re.ASCII)
_OTHER = re.compile(r"public|fingerprint|sha-?[0-9]|digest|hash|address|\btx\b", re.ASCII)
_REACH = 80


def find_wallet_keys(text: str, small: str, words: list[tuple[int, int]]) -> Iterator[Span]:
    """Yield the seed phrases and keys of wallets; `words` are the long words of the text."""
    if [hint for hint in HINTS if hint in small]:
        for found in _phrase().finditer(small):
            if _PROSE.isdisjoint(found["secret"].replace(",", " ").split()):
                yield (*found.span("secret"), _RANK, "seed-phrase")
    named = "private" in small
    for start, end in words:
        if end - start >= 51 and _WIF.fullmatch(text, start, end) and _passes_checksum(text[start:end]):
            yield start, end, _RANK, "wif-key"
        elif named and _is_hex_key(small, start, end):
            yield start, end, _RANK, "private-key"


def _is_hex_key(small: str, start: int, end: int) -> bool:
    """Return whether it is 32 bytes in hexadecimal digits with `private key` near it in the same line."""
    if end - start not in (64, 66) or not _HEX.fullmatch(small, start, end):
        return False
    low = max(small.rfind("\n", 0, start) + 1, start - _REACH)
    high = small.find("\n", end, end + _REACH)
    around = f"{small[low:start]} {small[end : high if high >= 0 else end + _REACH]}"
    return bool(_NAMED.search(around)) and _OTHER.search(around) is None


def _passes_checksum(key: str) -> bool:
    number = 0
    for value in key.encode().translate(_BASE58):
        number = number * 58 + value
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]
