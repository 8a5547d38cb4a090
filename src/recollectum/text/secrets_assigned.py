"""Secrets that only the name in front of them gives away: `password = …`, `"api_key": "…"`, "the password is …"."""

import re
from collections.abc import Iterator

from recollectum.text.secrets_tokens import Span

_RANK = 2
_SHORTEST_KEY = 16
_HINTS = ("pass", "pwd", "secret", "token", "key", "credential", "pin")

# What follows is held against the text in small letters and begins with a letter, so that an engine skips all that has
# no such letter in one go; a pattern that ignores case is tried at each place.
_PASSWORD = "ass(?:word|wd|wort|phrase|code)|wd"
#: Whose key it is stands before it, and a pattern looks back by a fixed number of letters only: so, by their number.
_BEFORE_KEY = ("api", "auth", "access|master", "account|signing|private|storage|license", "encryption", "subscription")
_OWNED = "|".join(f"(?<=(?:{names}){joint}key)" for names in _BEFORE_KEY for joint in ("", "[_ -]"))
# The word alone says enough where others may stand before it, as in `client_secret` and `access_token`.
_KEYS = rf"secret(?:[_ -]?access)?[_ -]?key|secret|token|credentials?|key(?:{_OWNED})"
_QUOTED = r"(?P<quote>[\"'`])(?P<quoted>[^\s\"'`]{4,256})(?P=quote)"
_BARE = r"(?P<bare>[^\s\"'`,;<>(){}|\[\]]{4,256})"
# A name may go on (`password_prod`, `tokenValue`), but soon comes what gives it the value.
_ASSIGNED = re.compile(
    rf"(?P<name>p(?:{_PASSWORD})|{_KEYS})(?:[_-]?[a-z0-9]{{1,16}}){{0,2}}+\\?[\"']?"
    rf"\s{{0,3}}(?P<sign>=>|:=|=(?!=)|:)\s{{0,3}}\\?(?:{_QUOTED}|{_BARE})",
    re.ASCII,
)
_TOLD = re.compile(
    rf"(?P<name>p(?<!\wp)(?:{_PASSWORD}|in(?: code| number)?))(?: (?:for|to|of|on) [^.,;:!?\n]{{1,40}}?)?"
    rf" (?:is|was|=|will be|to|as)(?: now| still| just| set to)?:? (?:{_QUOTED}|{_BARE})",
    re.ASCII,
)
# A value that is fetched from elsewhere, or that stands for one.
_REFERENCE = re.compile(
    r"[$<{%*&@/~.]|https?:|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|(?:x{3,}|\*{3,}|\.{3}|your|my[-_]|example|placeholder|redacted)"
    r"|(?:string|str|int|null|none|true|false|undefined|required|optional|text|password|secret|token|bytes|any)\b",
    re.IGNORECASE | re.ASCII,
)
# A mark of exclamation may well be part of the password, and is worth less than it.
_CLOSING = ".,;:?)"
_SMALL = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_LETTER = re.compile("[A-Za-z]")
_DIGIT = re.compile("[0-9]")
_SIGN = re.compile(r"[!@#$%^&*+=~?]")


def assigned(text: str, lowered: str) -> Iterator[Span]:
    """The values of names that secrets have; `lowered` is the text in small letters."""
    if not any(hint in lowered for hint in _HINTS):
        return
    # A letter or two become longer when they are made small, and then the places are others.
    small = lowered if len(lowered) == len(text) else text.translate(_SMALL)
    amazon = "aws" in lowered
    for found in _ASSIGNED.finditer(small):
        password = found["name"].startswith("p")
        if not password and found.end() - found.end("sign") < _SHORTEST_KEY:
            continue
        span = _value(text, found, bare_words=found["sign"] == "=" and _is_variable(text, found))
        if span and (password or _is_long_and_mixed(text[slice(*span)])):
            kind = "aws-secret-key" if amazon and "secret" in found["name"] else "api-key"
            yield (*span, _RANK, "password" if password else kind)
    for found in _TOLD.finditer(small):
        span = _value(text, found, bare_words=False)
        if span:
            yield (*span, _RANK, "password")


def _value(text: str, found: re.Match[str], *, bare_words: bool) -> tuple[int, int] | None:
    """The place of the value, when it is more than a word of the sentence or a name in a program."""
    group = "quoted" if found["quoted"] is not None else "bare"
    start, end = found.span(group)
    while group == "bare" and end > start and text[end - 1] in _CLOSING:
        end -= 1
    value = text[start:end].removesuffix("\\")
    # Keys of Amazon are of this length and may begin with a slash, like a path.
    if len(value) < 4 or (_REFERENCE.match(value) and not (len(value) == 40 and _is_long_and_mixed(value))):
        return None
    if group == "bare" and not (bare_words or _is_unlike_a_word(value, found)):
        return None
    return start, start + len(value)


def _is_unlike_a_word(value: str, found: re.Match[str]) -> bool:
    if not found["name"].startswith("p"):
        return True
    if found["name"].startswith("pin"):
        return bool(re.fullmatch("[0-9]{4,8}", value))
    has_letter, has_digit = _LETTER.search(value), _DIGIT.search(value)
    return bool(len(value) >= 5 and ((has_letter and has_digit) or (has_letter and _SIGN.search(value)))) or bool(
        has_digit and not has_letter and re.fullmatch("[0-9]{4,20}", value)
    )


def _is_variable(text: str, found: re.Match[str]) -> bool:
    """Whether it is written as variables of the environment are: in capitals, with nothing around the sign."""
    before = text[found.start() : found.start("sign")]
    return before.isupper() and before == before.strip()


def _is_long_and_mixed(value: str) -> bool:
    """Whether it is of the make of a key: long, with letters and digits, and of many different ones."""
    return bool(len(value) >= _SHORTEST_KEY and _LETTER.search(value) and _DIGIT.search(value) and len(set(value)) >= 8)
