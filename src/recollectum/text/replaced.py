"""Tells which secrets redaction replaced in a text: their kinds and where they are stored, never the secrets."""

import re
from collections import Counter
from collections.abc import Sequence

_PLACEHOLDER = re.compile(r"\[secret:(?P<kind>[a-z0-9-]{1,40})\](?: \((?P<place>[a-z]+ sec_[0-9a-z]{26})\))?")


def replaced_kinds(given: str, stored: str) -> tuple[str, ...]:
    """Return the kinds of the secrets that were replaced in a text, in the order of the stored one."""
    if "[secret:" not in stored:
        return ()
    before = Counter(found["kind"] for found in _PLACEHOLDER.finditer(given))
    kinds: list[str] = []
    for found in _PLACEHOLDER.finditer(stored):
        # A placeholder that was in the given text is no secret of this write.
        if before[found["kind"]]:
            before[found["kind"]] -= 1
        else:
            kinds.append(found["kind"])
    return tuple(kinds)


def describe_replaced(kinds: Sequence[str], stored: str) -> str | None:
    """Return a sentence about the replaced secrets and their place in the credential store, or None without any."""
    if not kinds:
        return None
    how_many = "1 secret was" if len(kinds) == 1 else f"{len(kinds)} secrets were"
    places = dict.fromkeys(found["place"] for found in _PLACEHOLDER.finditer(stored) if found["place"])
    kept = f"; kept in the credential store as {', '.join(places)}" if places else ""
    return f"{how_many} replaced: {', '.join(kinds)}{kept}"
