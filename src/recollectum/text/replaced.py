"""Finds the kinds of the secrets that redaction replaced in a text."""

import re
from collections import Counter

_PLACEHOLDER = re.compile(r"\[secret:([a-z0-9-]{1,40})\]")


def replaced_kinds(given: str, stored: str) -> tuple[str, ...]:
    """Return the kinds of the secrets that were replaced in a text, in the order of the stored one."""
    if "[secret:" not in stored:
        return ()
    before = Counter(_PLACEHOLDER.findall(given))
    kinds: list[str] = []
    for kind in _PLACEHOLDER.findall(stored):
        # A placeholder that was in the given text is no secret of this write.
        if before[kind]:
            before[kind] -= 1
        else:
            kinds.append(kind)
    return tuple(kinds)
