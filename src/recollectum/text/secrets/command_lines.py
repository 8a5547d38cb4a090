"""Finds passwords and tokens in command lines: long options, and the short options of known programs."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from recollectum.text.secrets.assignments import BARE, QUOTED, value_span
from recollectum.text.secrets.span import Span
from recollectum.text.secrets.values import is_key, is_password, is_reference

_RANK = 2
#: The greatest distance of an option from its program.
_REACH = 300


# Compiled at the first text that needs it, because that is slow.
@cache
def _long() -> re.Pattern[str]:
    return re.compile(rf"--(?<![\w-]--)(?P<flag>[a-z][a-z0-9-]{{1,40}})[ =]{{1,2}}(?!-)(?:{QUOTED}|{BARE})", re.ASCII)


_PASSWORD = re.compile(r"(?:^|-)(?:pass|password|passwd|passphrase|passcode|pwd|pw)$", re.ASCII)
_KEY = re.compile(r"(?:token|secret|(?:api|access|secret|private|auth|account)-?key|credentials?)$", re.ASCII)
_LOGIN = re.compile(r"(?:^|-)user$", re.ASCII)


@cache
def _short() -> re.Pattern[str]:
    return re.compile(
        rf"-(?<=\s-)(?P<flag>[pPaAwuU])(?P<room>[ ]?)(?=[^\s-]\S{{0,64}}?[0-9:!@#$%^&*+=~?])(?:{QUOTED}|{BARE})",
        re.ASCII,
    )


class _Program(NamedTuple):
    """The options by which a program takes a password."""

    flags: str
    #: Whether a space may stand between the option and the password.
    spaced: bool = True
    #: Whether the user and a colon stand before it.
    login: bool = False


PROGRAMS = {
    "mysql": _Program("p", spaced=False),
    "mariadb": _Program("p", spaced=False),
    "sshpass": _Program("p"),
    "docker login": _Program("p"),
    "podman login": _Program("p"),
    "7z": _Program("p", spaced=False),
    "unzip": _Program("P"),
    "zip": _Program("P"),
    "redis-cli": _Program("a"),
    "ldapsearch": _Program("w"),
    "curl": _Program("uU", login=True),
    "wget": _Program("", login=True),
    "http": _Program("aA", login=True),
}
# Each begins with a letter, so that the regex engine skips all other text at once.
_NAMES = "|".join(name[0] + r"(?<![\w.-].)" + re.escape(name[1:]) for name in PROGRAMS)


@cache
def _program() -> re.Pattern[str]:
    return re.compile(rf"(?:{_NAMES})(?=[a-z_]{{0,12}}\s)", re.ASCII)


_END = re.compile(r"[\n;|]")


def find_in_commands(text: str, small: str) -> Iterator[Span]:
    """Yield the secrets on command lines; `small` is the text in lower case."""
    if "--" in text:
        yield from _find_long(text, small)
    if " -" in text and [name for name in PROGRAMS if name in small]:
        yield from _find_short(text, small)


def _find_long(text: str, small: str) -> Iterator[Span]:
    for found in _long().finditer(small):
        flag = found["flag"]
        span = value_span(text, found)
        if span is None:
            continue
        value = text[slice(*span)]
        if _PASSWORD.search(flag) and (found["quoted"] is not None or is_password(value)):
            yield (*span, _RANK, "password")
        elif _KEY.search(flag) and is_key(value):
            yield (*span, _RANK, "api-key")
        elif _LOGIN.search(flag):
            yield from _find_after_colon(value, span)


def _find_short(text: str, small: str) -> Iterator[Span]:
    options = list(_short().finditer(text))
    programs = [(found.start(), PROGRAMS[found[0]]) for found in _program().finditer(small)] if options else []
    for found in options if programs else ():
        at = bisect_left(programs, found.start(), key=lambda one: one[0]) - 1
        if at < 0 or not _takes(*programs[at], text, found):
            continue
        span = value_span(text, found)
        if span is None:
            continue
        value = text[slice(*span)]
        if programs[at][1].login:
            yield from _find_after_colon(value, span)
        elif found["quoted"] is not None or is_password(value):
            yield (*span, _RANK, "password")


def _takes(start: int, program: _Program, text: str, found: re.Match[str]) -> bool:
    """Return whether the option belongs to the program that begins at `start`, and takes a password."""
    if found["flag"] not in program.flags or (found["room"] and not program.spaced):
        return False
    return found.start() - start <= _REACH and _END.search(text, start, found.start()) is None


def _find_after_colon(value: str, span: tuple[int, int]) -> Iterator[Span]:
    """Yield the password of `user:password`."""
    user, colon, password = value.partition(":")
    if colon and user and len(password) >= 4 and not is_reference(password):
        yield span[0] + len(user) + 1, span[1], _RANK, "password"
