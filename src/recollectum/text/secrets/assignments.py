"""Finds the values that are assigned to names of secrets, in code, settings, JSON and lists."""

import re
from collections.abc import Iterator
from functools import cache

from recollectum.text.secrets.span import Span
from recollectum.text.secrets.values import (
    SHORTEST_KEY,
    Stretches,
    is_key,
    is_password,
    is_phrase,
    is_reference,
)

_RANK = 2
_HINTS = ("pass", "pw", "secret", "token", "key", "credential")
# The following patterns are matched against the text in lower case and begin with a letter, so that the regex engine
# skips all text without that letter at once; a pattern that ignores case is tried at each position.
_SHORT = r"ass(?![a-z])(?<![a-z]pass)|w(?![a-z])(?<![a-z]pw)"
_PASSWORD = f"ass(?:word|wd|wort|phrase|code)|wd|{_SHORT}"
#: The owner of a key is written before it, and a lookbehind has a fixed width: hence one for each width.
_BEFORE_KEY = ("api", "auth", "access|master", "account|signing|private|storage|license", "encryption", "subscription")
_OWNED = "|".join(f"(?<=(?:{names}){joint}key)" for names in _BEFORE_KEY for joint in ("", "[_ -]"))
# These words are enough even after others, as in `client_secret` and `access_token`.
_KEYS = rf"secret(?:[_ -]?access)?[_ -]?key|secret|token|credentials?|key(?:{_OWNED})"
QUOTED = r"(?P<quote>[\"'`])(?P<quoted>[^\s\"'`]{4,256}|[^\s\"'`][^\n\"'`]{4,80})(?P=quote)"
BARE = r"(?P<bare>[^\s\"'`,;<>(){}|\[\]]{4,256})"


# Compiled at the first text that needs it, because that is slow.
@cache
def _assigned() -> re.Pattern[str]:
    # A name may go on (`password_prod`, `tokenValue`), but the sign that assigns the value follows soon.
    return re.compile(
        rf"(?P<name>p(?:{_PASSWORD})|{_KEYS})(?P<more>(?:[_-]?[a-z0-9]{{1,16}}){{0,2}}+)\\?[\"']?\]?"
        rf"\s{{0,3}}(?P<sign>=>|:=|=(?!=)|:|>)\s{{0,3}}\\?(?:{QUOTED}|{BARE})",
        re.ASCII,
    )


#: Last words that make it the name of something else: `token_url`, `SECRET_SANTA_DATE`, `password_hash`.
_ABOUT_WORDS = (
    "age at count created date endpoint expires expiry field file hash hint id ids index label length lifetime "
    "limit manager name path policy provider ref seconds store ttl type updated uri url version"
)
_ABOUT = frozenset(_ABOUT_WORDS.split())
_REACH = 80
_SPACE = re.compile(r"\s")
_JOINTS = re.compile("[_-]")
_SMALL = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
# An exclamation mark may well be part of the password, so it is included.
_CLOSING = ".,;:?)"


def to_small(text: str, lowered: str) -> str:
    """Return the text in lower case with the same positions; a few letters get longer in lower case."""
    return lowered if len(lowered) == len(text) else text.translate(_SMALL)


def find_assigned(text: str, small: str, stretches: Stretches) -> Iterator[Span]:
    """Yield the values assigned to names that secrets have; `small` is the text in lower case."""
    if not any(hint in small for hint in _HINTS):
        return
    amazon, resources = "aws" in small, "arn:" in small
    for found in stretches.matches(_assigned()):
        name = found["name"]
        password = name.startswith("p")
        if is_quoted_prose(found) if password else _is_no_key(found):
            continue
        if _is_of_something_else(found["more"]) or (resources and _is_in_resource(small, found.start())):
            continue
        span = value_span(text, found)
        if span is None:
            continue
        value = text[slice(*span)]
        if password and _is_assigned_password(text, found, value):
            yield (*span, _RANK, "password")
        elif not password and is_key(value):
            yield (*span, _RANK, "aws-secret-key" if amazon and "secret" in name else "api-key")


def _is_no_key(found: re.Match[str]) -> bool:
    """Return whether the value is too short for a key, as most are, or follows a sign that assigns none."""
    return found["sign"] == ">" or found.end() - found.end("sign") < SHORTEST_KEY


def _is_of_something_else(more: str) -> bool:
    """Return whether the rest of the name makes it that of a link or a date."""
    return bool(more) and _JOINTS.split(more)[-1] in _ABOUT


def _is_in_resource(small: str, start: int) -> bool:
    """Return whether the name is part of a resource name (`arn:aws:secretsmanager:…`)."""
    resource = small.rfind("arn:", max(0, start - _REACH), start)
    return resource >= 0 and not _SPACE.search(small, resource, start)


def is_quoted_prose(found: re.Match[str]) -> bool:
    """Return whether the value is a sentence in quotes rather than a pass phrase."""
    quoted = found["quoted"]
    return quoted is not None and " " in quoted and not is_phrase(quoted.removesuffix("\\"))


def value_span(text: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Return the span of the value without closing punctuation, or None for a placeholder or reference."""
    group = "quoted" if found["quoted"] is not None else "bare"
    start, end = found.span(group)
    while group == "bare" and end > start and text[end - 1] in _CLOSING:
        end -= 1
    value = text[start:end].removesuffix("\\")
    return None if len(value) < 4 or is_reference(value) else (start, start + len(value))


def _is_assigned_password(text: str, found: re.Match[str], value: str) -> bool:
    if found["quoted"] is not None:
        return True
    if found["sign"] == "=" and _is_variable(text, found):
        return True
    return is_password(value)


def _is_variable(text: str, found: re.Match[str]) -> bool:
    """Return whether it is written like an environment variable: in capitals, without spaces around the sign."""
    before = text[found.start() : found.start("sign")]
    return before.isupper() and before == before.strip()
