"""Finds every secret in a text or JSON value and replaces it by `[secret:kind]`."""

import re
from collections.abc import Iterator, Mapping, Sequence

from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.text.secrets.account_numbers import DIGITS, find_account_numbers, may_have_account_number
from recollectum.text.secrets.assignments import find_assigned, to_small
from recollectum.text.secrets.command_lines import PROGRAMS, find_in_commands
from recollectum.text.secrets.disguises import find_broken, find_in_base64, find_percent_encoded, line_ends
from recollectum.text.secrets.languages import ASCII_NAMES, find_told_elsewhere
from recollectum.text.secrets.long_words import find_long_words
from recollectum.text.secrets.recovery_codes import find_recovery_codes
from recollectum.text.secrets.span import Span
from recollectum.text.secrets.tokens import find_tokens, hinted_kinds
from recollectum.text.secrets.told import find_told, find_told_keys
from recollectum.text.secrets.values import Stretches
from recollectum.text.secrets.wallets import HINTS as WALLET_HINTS
from recollectum.text.secrets.wallets import find_wallet_keys

#: How often the rest of a stretch is searched again after a secret in it was found.
_ROUNDS = 50
#: The length of the shortest secret: a name of three letters, a sign and a value of four.
_SHORTEST = 8
#: Words of headers, key files and seed phrases, whose secrets may be short words.
_TELLING = ("authorization", "private-lines:", *WALLET_HINTS)
#: Names of secrets besides those with `pass` and `pw`; a PIN and the number of an account have four digits in a row.
_NAMES = ("secret", "token", "key", "credential", *(name for name in ASCII_NAMES if "pass" not in name))
_SIGN = re.compile("[0-9!@#$%^&*+=~?]")
_UUID = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PLACEHOLDER = re.compile(r"\[secret:[a-z0-9-]{1,40}\]")


#: Each line of `may_tell` needs one of these in lower case, or a PIN. So an ASCII text `is_plain` that has none of
#: them, no PIN and no long word.
HINTS = ("--", "://", *_TELLING, *PROGRAMS, "pass", "pw", "%", *_NAMES)
PIN = DIGITS


@dataclass(frozen=True, slots=True, order=True)
class Secret:
    """The position and kind of a secret in a text. It never holds the secret itself."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its secrets, and their positions in the original."""

    text: str
    found: tuple[Secret, ...]


def redact(text: str) -> Redacted:
    """Replace each secret by `[secret:kind]`; all other text stays as it is, and a second run changes nothing."""
    return Redacted(text, ()) if is_plain(text) else _replaced(text, _search(text))


def _replaced(text: str, found: tuple[Secret, ...]) -> Redacted:
    if not found:
        return Redacted(text, ())
    parts: list[str] = []
    at = 0
    for secret in found:
        parts += [text[at : secret.start], f"[secret:{secret.kind}]"]
        at = secret.end
    return Redacted("".join([*parts, text[at:]]), found)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return all secrets of the text in order; none overlaps another."""
    return () if is_plain(text) else _search(text)


def _search(text: str) -> tuple[Secret, ...]:
    found: list[Secret] = []
    at = 0
    # A placeholder from an earlier run is a wall: nothing is found in it or across it, so a second run changes nothing.
    for wall in _PLACEHOLDER.finditer(text) if "[secret:" in text else ():
        found += _in_stretch(text, at, wall.start())
        at = wall.end()
    return (*found, *_in_stretch(text, at, len(text)))


def is_plain(text: str) -> bool:
    """Return whether a text certainly has no secret: most keys and values of JSON are short, and most talk tells none.

    What is inside a plain text is plain too, unless it begins or ends inside a long word.
    """
    if len(text) < _SHORTEST:
        return True
    if not text.isascii():
        return False
    small, words = text.lower(), find_long_words(text)
    return (not words or _are_plain_uuids(text, small, words)) and not may_tell(text, small, words)


def _are_plain_uuids(text: str, small: str, words: Sequence[tuple[int, int]]) -> bool:
    """Return whether all long words are UUIDs, by which programs name things, and no format of a token is hinted at.

    A UUID is no text in base64, because of its dashes.
    """
    if not all(_UUID.fullmatch(text, *span) for span in words):
        return False
    return not hinted_kinds(text, small, [text[low:high] for low, high in words])


def _in_stretch(text: str, start: int, end: int) -> list[Secret]:
    """Return the secrets between two walls; each secret found becomes a wall, and the rest is searched again."""
    found: list[Secret] = []
    stretches = [(start, end)] if end - start >= _SHORTEST else []
    for _ in range(_ROUNDS):
        fresh: list[Secret] = []
        rests: list[tuple[int, int]] = []
        for low, high in stretches:
            here = _once(text, low, high)
            fresh += here
            rests += _between(here, low, high) if here else ()
        if not fresh:
            break
        found += fresh
        stretches = rests
    return sorted(found)


def _once(text: str, start: int, end: int) -> list[Secret]:
    stretch = text if start == 0 and end == len(text) else text[start:end]
    merged: list[Span] = []
    # A token format is more certain than a number, and both are more certain than a name before a value.
    for low, high, rank, kind in sorted(_spans(stretch)):
        if merged and low < merged[-1][1]:
            before = merged[-1]
            surest = min((before[2], before[3]), (rank, kind))
            merged[-1] = (before[0], max(before[1], high), *surest)
        else:
            merged.append((low, high, rank, kind))
    return [Secret(start + low, start + high, kind) for low, high, _, kind in merged]


def _spans(text: str) -> Iterator[Span]:
    """Yield the spans of all searches; they may overlap."""
    # What is left between the secrets of a text may be plain.
    lowered = text.lower()
    words = find_long_words(text)
    if words or not text.isascii() or may_tell(text, lowered):
        yield from _found_by_all(text, lowered, words)


def may_tell(text: str, small: str, uuids: Sequence[tuple[int, int]] = ()) -> bool:
    """Return whether any search may find a secret in ASCII text without long words but UUIDs; False is certain.

    Each line names what a search needs at least. Formats that are not named have sixteen characters in a row, and so
    have a long word. `small` is the text in lower case, and `uuids` are the spans of the UUIDs: no card or account has
    their dashes, but half of them have a part that one may begin with.
    """
    if "--" in text or ("://" in text and "@" in text) or [hint for hint in _TELLING if hint in small]:
        return True
    if " -" in text and [name for name in PROGRAMS if name in small]:
        return True
    password = "pass" in small or "pw" in small
    if not _SIGN.search(text):
        # A password or key has a digit or a sign, unless it is quoted.
        return password and ('"' in text or "'" in text or "`" in text)
    if password or "%" in text:
        return True
    if DIGITS.search(text) and ("pin" in small or may_have_account_number(_without(text, uuids))):
        return True
    return bool([name for name in _NAMES if name in small])


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text with a space in place of each of these spans, which are in order."""
    for start, end in reversed(spans):
        text = f"{text[:start]} {text[end:]}"
    return text


def _found_by_all(text: str, lowered: str, words: list[tuple[int, int]]) -> Iterator[Span]:
    small = to_small(text, lowered)
    kinds = hinted_kinds(text, lowered, [*(text[low:high] for low, high in words), *(line_ends(text) if words else ())])
    yield from find_tokens(text, kinds)
    yield from find_recovery_codes(text)
    yield from find_broken(text, kinds)
    yield from find_percent_encoded(text)
    stretches = Stretches(small)
    yield from find_assigned(text, small, stretches)
    yield from find_told(text, small, stretches)
    yield from find_told_elsewhere(text, small, stretches)
    yield from find_in_commands(text, small)
    yield from find_account_numbers(text)
    if words:
        yield from find_in_base64(text, words)
        yield from find_told_keys(text, small, words)
    yield from find_wallet_keys(text, small, words)


def _between(found: list[Secret], start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for secret in found:
        if secret.start - at >= _SHORTEST:
            yield at, secret.start
        at = secret.end
    if end - at >= _SHORTEST:
        yield at, end


def redact_value(value: Json, name: str = "") -> Json:
    """Return the value with every secret in it replaced; names stay, and so does everything that is not text."""
    if isinstance(value, str):
        return _under(name, value)
    if isinstance(value, Mapping):
        return {key: redact_value(inner, key) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [redact_value(inner, name) for inner in value]
    return value


def find_under(name: str, text: str) -> tuple[Secret, ...]:
    """Return the secrets of a text that is the value of a name in JSON, by their positions in the text.

    Without a name, search the text alone.
    """
    before = f'"{name}": "'
    framed = find_secrets(f'{before}{text}"') if name else ()
    start, end = len(before), len(before) + len(text)
    # As in `_under`: ignore the name if a secret reaches beyond the text.
    if framed and all(start <= one.start and one.end <= end for one in framed):
        return tuple(Secret(one.start - start, one.end - start, one.kind) for one in framed)
    return find_secrets(text)


def _under(name: str, text: str) -> str:
    """Return the text redacted as a JSON value, because `"password": "…"` says more than the value alone."""
    before = f'"{name}": "'
    framed = f'{before}{text}"' if name else text
    if is_plain(framed):
        return text
    done = _replaced(framed, _search(framed)).text if name else ""
    # Ignore the name if it is a secret itself, or if a secret reaches beyond the text.
    if done.startswith(before) and done.endswith('"'):
        return redact(done[len(before) : -1]).text
    return redact(text).text
