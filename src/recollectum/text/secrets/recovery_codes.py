"""Finds Recollectum's own recovery codes by their groups and their check character."""

import re
from collections.abc import Iterator

from recollectum.text.secrets.span import Span

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_GROUP = "[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{4}"
#: It matches from the first dash, which is rare; a lookbehind checks the group before it.
_CODE = re.compile(
    rf"-(?:(?<=(?<![\w-]){_GROUP}-)|(?<=\\[nrt]{_GROUP}-))(?:{_GROUP}-){{7}}[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z](?![\w-])",
    re.ASCII,
)
#: Crockford's check is the number modulo this prime.
_CHECK_PRIME = 37


def find_recovery_codes(text: str) -> Iterator[Span]:
    """Yield the codes whose check character is right."""
    for found in _CODE.finditer(text):
        start = found.start() - 4
        *body, check = text[start : found.end()].upper().replace("-", "")
        number = 0
        for char in body:
            number = (number << 5 | _ALPHABET.index(char)) % _CHECK_PRIME
        if number == _ALPHABET.index(check):
            yield start, found.end(), 0, "recovery-code"
