"""Decides whether a value looks like a password or key, or like a word, a name, a date or a placeholder."""

import re
from collections.abc import Iterator
from functools import cache

#: The length of the shortest key.
SHORTEST_KEY = 16


# Compiled at the first text that needs it, because that is slow.
@cache
def _reference() -> re.Pattern[str]:
    # A value that is read from elsewhere, or a placeholder.
    return re.compile(
        r"[$<{%*&@/~.]|https?:|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|(?:x{3,}|\*{3,}|\.{3}|your|my[-_]|example|placeholder|redacted)"
        r"|(?:string|str|int|null|none|true|false|undefined|required|optional|text|password|secret|token|bytes|any)\b"
        # A digest, the second field of /etc/passwd, and the date of something.
        r"|(?:sha[0-9]{1,3}|md5)[:-]|(?:[a-z]{1,32}:)?[x*!]:[0-9]+:[0-9]+|(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]",
        re.IGNORECASE | re.ASCII,
    )


_LETTER = re.compile("[A-Za-z]")
_LOWER = re.compile("[a-z]")
_UPPER = re.compile("[A-Z]")
_DIGIT = re.compile("[0-9]")
_SIGN = re.compile(r"[!@#$%^&*+=~?]")
#: A password or key has a digit or a sign, unless it is quoted or assigned with `=`.
_MARK = re.compile("[0-9!@#$%^&*+=~?\"'`]")
#: More characters than any pattern of a name and its value takes.
_REACH = 512
#: Words and numbers joined by signs: a name rather than a key.
_SLUG = re.compile(r"(?:[A-Za-z]+|[0-9]+|v[0-9]+)(?:[-_./:](?:[A-Za-z]+|[0-9]+|v[0-9]+))+", re.ASCII)
#: Recollectum's ids: a noun and a number in Crockford's base 32.
_ID = re.compile("[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}", re.ASCII)


@cache
def _prose() -> re.Pattern[str]:
    # Words of sentences about passwords; a pass phrase has none of them.
    return re.compile(
        r"(?:^|\s)(?:a|an|and|are|at|be|by|can|cannot|characters?|contain|enter|field|for|forgot|from|here|if|in|incorrect"
        r"|invalid|is|it|long|must|new|no|not|of|on|or|password|please|repeat|required|reset|same|see|should|that|the|this"
        r"|to|too|was|with|wrong|you|your)(?=$|[\s.,!?])",
        re.IGNORECASE | re.ASCII,
    )


class Stretches:
    """The parts of a text that may hold a password or key and its name: those around digits, signs and quotes.

    Most text that names passwords tells none, and a pattern need not try each name in it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[tuple[int, int]] | None = None

    def places(self) -> list[tuple[int, int]]:
        """Return where each begins and ends; they are found at the first call, because most texts name no secret."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def matches(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the matches of a pattern in these parts."""
        for start, end in self.places():
            yield from pattern.finditer(self._text, start, end)

    def _find(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        at = 0
        while mark := _MARK.search(self._text, at):
            # The marks within reach of this one need no search; hence twice the reach after it.
            at = mark.start() + _REACH
            start = max(0, mark.start() - _REACH)
            if found and start <= found[-1][1]:
                start = found.pop()[0]
            found.append((start, at + _REACH))
        return found


def is_reference(value: str) -> bool:
    """Return whether it refers to a secret elsewhere, or is a placeholder."""
    # AWS keys have this length and may begin with a slash, like a path.
    return bool(_reference().match(value)) and not (len(value) == 40 and is_key(value))


def is_key(value: str) -> bool:
    """Return whether it looks like a key: long, with letters and digits, many different characters, and no name."""
    return bool(
        len(value) >= SHORTEST_KEY
        and _LETTER.search(value)
        and _DIGIT.search(value)
        and len(set(value)) >= 8
        and not _SLUG.fullmatch(value)
        and not _ID.fullmatch(value)
    )


def is_password(value: str) -> bool:
    """Return whether it is more than a word: letters with digits or signs, or digits alone."""
    if not _LETTER.search(value):
        return bool(re.fullmatch("[0-9]{4,20}", value))
    return len(value) >= 5 and bool(_DIGIT.search(value) or _SIGN.search(value))


def is_strong_password(value: str) -> bool:
    """Return whether it cannot be a word, a version or an identifier, even without a word such as `is` before it."""
    if len(value) < 8 or not _DIGIT.search(value) or is_reference(value):
        return False
    lower, upper, sign = _LOWER.search(value), _UPPER.search(value), _SIGN.search(value)
    return bool((lower and upper) or ((lower or upper) and sign))


def is_mixed_password(value: str) -> bool:
    """Return whether it is long and has letters and digits, which is enough after an unambiguous name."""
    return len(value) >= 8 and bool(_LETTER.search(value) and _DIGIT.search(value)) and not is_reference(value)


def is_phrase(value: str) -> bool:
    """Return whether words in quotes are a pass phrase rather than a sentence about one."""
    return _prose().search(value) is None
