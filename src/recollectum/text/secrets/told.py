"""Finds passwords and keys that are told in English talk."""

import re
from collections.abc import Iterator
from functools import cache

from recollectum.text.secrets.assignments import BARE, QUOTED, is_quoted_prose, value_span
from recollectum.text.secrets.span import Span
from recollectum.text.secrets.values import (
    Stretches,
    is_key,
    is_mixed_password,
    is_password,
    is_reference,
    is_strong_password,
)

_RANK = 2
_NAME = "assword|asswd|asswort|assphrase|asscode|ass|wd|w"
_VALUE = rf"(?:{QUOTED}|{BARE})"
_OF = r"[^.,;:!?\n]{1,40}?"
_IS = "is|was|=|will be|->|-|\u2013|\u2014"


# Compiled at the first text that needs it, because that is slow.
@cache
def _told() -> re.Pattern[str]:
    # Matched against the text in lower case, and begins with a letter: see assignments.
    return re.compile(
        rf"p(?<!\wp)(?P<name>{_NAME}|in(?: code| number)?)(?![a-z])"
        rf"(?:(?: (?:for|of|on) {_OF})?(?: (?:{_IS}|to|as)|:)| to (?!be ){_OF}(?: (?:{_IS})|:))"
        rf"(?: now| still| just| set to)?:? {_VALUE}",
        re.ASCII,
    )


@cache
def _direct() -> re.Pattern[str]:
    # Without a word between name and value, only what cannot be a word counts.
    return re.compile(
        rf"p(?<!\wp)(?P<name>assword|asscode|ass|wd|w) (?=\S{{0,64}}?[0-9!@#$%^&*+=~?]){_VALUE}", re.ASCII
    )


def find_told(text: str, small: str, stretches: Stretches) -> Iterator[Span]:
    """Yield the passwords that a sentence tells; `small` is the text in lower case."""
    if not ("pass" in small or "pw" in small or "pin" in small):
        return
    for found in stretches.matches(_told()):
        span = None if is_quoted_prose(found) else value_span(text, found)
        if span and _is_told(found, text[slice(*span)]):
            yield (*span, _RANK, "password")
    for found in stretches.matches(_direct()):
        span = value_span(text, found)
        if span and _is_told_directly(found, text[slice(*span)]):
            yield (*span, _RANK, "password")


def _is_told(found: re.Match[str], value: str) -> bool:
    if found["name"].startswith("in"):
        return bool(re.fullmatch("[0-9]{4,8}", value))
    if found["quoted"] is not None:
        return True
    return is_password(value)


def _is_told_directly(found: re.Match[str], value: str) -> bool:
    if found["quoted"] is not None:
        return " " not in value and is_password(value)
    # `pw` and `pwd` are unambiguous; `pass` and `password` occur in any sentence.
    return is_mixed_password(value) if found["name"].startswith("w") else is_strong_password(value)


@cache
def _before_key() -> re.Pattern[str]:
    # The words before a key within one sentence: its name, and a joint such as `is` or nothing.
    return re.compile(
        r"(?P<name>(?:api|access|auth\w{0,10}|secret|licen[cs]e|signing|private|master|account)[ _-]?keys?|token|secret"
        r"|credentials?|recovery code|key(?<!public.key)(?<!primary.key)(?<!foreign.key)(?<!cache.key)(?<!host.key)"
        r"(?<!idempotency.key)(?<!partition.key)(?<!object.key))s?(?![\w-])"
        r"(?P<joint>[^.;:!?\n]{0,40}?(?: (?:is|was|are|will be|=|->|-|\u2013|\u2014)|:)(?: now| still)?:?)?"
        r"\s{1,2}[\"'`(]{0,2}$",
    )


_KEY_NAMES = ("key", "token", "secret", "credential", "recovery code")
_REACH = 90


def find_told_keys(text: str, small: str, words: list[tuple[int, int]]) -> Iterator[Span]:
    """Yield the long words of a text that a sentence calls a key, token or secret."""
    if not [name for name in _KEY_NAMES if name in small]:
        return
    for start, end in words:
        value = text[start:end].rstrip(".,;:?)=")
        if not is_key(value) or is_reference(value):
            continue
        if _before_key().search(small[max(0, start - _REACH) : start]):
            yield start, start + len(value), _RANK + 1, "api-key"
