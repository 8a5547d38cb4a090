"""Finds passwords that are told in other languages than English."""

import re
from collections.abc import Iterator
from functools import cache

from recollectum.text.secrets.span import Span
from recollectum.text.secrets.values import Stretches, is_mixed_password, is_password, is_reference

_RANK = 2
_NAMES = (
    "passwort kennwort zugangscode wachtwoord senha palavra-passe contraseña contrasena clave hasło haslo heslo "
    "passord salasana parola şifre sifre adgangskode kodeord lösenord losenord"
)
_LATIN = ("mot de passe", *_NAMES.split())
ASCII_NAMES = tuple(name for name in _LATIN if name.isascii())
_OTHERS = ("пароль", "κωδικός")
#: The words between the name and the password.
_IS = (
    "ist|lautet|heißt|heisst|war|wird|est|sera|était|c'est|es|será|era|fue|é|è|sarà|is|was|wordt|to|jest|je|är|er|on|"
    "это|был|=|-|\u2013|\u2014"
)
_IS_BEGINS = "".join(sorted({word[0] for word in _IS.split("|") if word != "-"}))
_SAID = f"(?=[{_IS_BEGINS}-])(?:{_IS})(?: jetzt| nun| now)?"
_OPEN = "[\"'`«„\u201c「]?"
_VALUE = r"(?P<value>[^\s\"'`,;<>(){}|\[\]»\u201c\u201d」]{4,128})"


# Compiled at the first text that needs it, because that is slow.
@cache
def _spaced() -> re.Pattern[str]:
    return re.compile(
        rf"(?:{'|'.join((*_LATIN, *_OTHERS))})(?!\s(?:primaria|externa))[a-zıé]{{0,3}}"
        # The engine tries these after each character; each begins with a character, so that most fail without a step.
        rf"(?:(?P<joint>(?: [^.;:!?\n]{{1,40}}?)?(?:\s[:=：]|[:=：]|, {_SAID}| {_SAID}) {{0,2}})"
        rf"| (?=\S{{0,64}}?[0-9])){_OPEN}{_VALUE}",
    )


@cache
def _italian() -> re.Pattern[str]:
    # Italian uses the English word.
    return re.compile(rf"(?<!\w)password(?: [^.;:!?\n]{{1,40}}?)? (?P<joint>è|sarà|era) {_OPEN}{_VALUE}")


_EAST_ASIAN = ("パスワード", "暗証番号", "密码", "密碼", "口令", "비밀번호")


@cache
def _unspaced() -> re.Pattern[str]:
    # No space separates the password from the sentence; it is the ASCII part.
    return re.compile(
        rf"(?:{'|'.join(_EAST_ASIAN)})(?P<joint>\s?(?:は|是|为|為|는|은|:|：|=))\s?{_OPEN}"
        r"(?P<value>[\x21\x23-\x26\x28-\x7e]{4,128})",
    )


_CLOSING = ".,;:?)。"


def find_told_elsewhere(text: str, small: str, stretches: Stretches) -> Iterator[Span]:
    """Yield the passwords that a sentence tells; `small` is the text in lower case."""
    ascii_only = text.isascii()
    if [word for word in (ASCII_NAMES if ascii_only else (*_LATIN, *_OTHERS)) if word in small]:
        yield from _find(_spaced(), text, stretches)
    if ascii_only:
        return
    if "password" in small:
        yield from _find(_italian(), text, stretches)
    if [word for word in _EAST_ASIAN if word in small]:
        yield from _find(_unspaced(), text, stretches)


def _find(pattern: re.Pattern[str], text: str, stretches: Stretches) -> Iterator[Span]:
    for found in stretches.matches(pattern):
        start, end = found.span("value")
        while end > start and text[end - 1] in _CLOSING:
            end -= 1
        value = text[start:end]
        if len(value) < 4 or is_reference(value):
            continue
        # Without a joint the next word may be any.
        if is_password(value) if found["joint"] else is_mixed_password(value):
            yield start, end, _RANK, "password"
