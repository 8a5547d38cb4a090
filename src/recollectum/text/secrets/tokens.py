"""Finds secrets by the format of their token: keys of vendors, key blocks, passwords in URLs, headers."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from recollectum.domain.records import dataclass
from recollectum.text.secrets.span import Span
from recollectum.text.secrets.vendors import VENDORS

# Each pattern begins at the start of a word, so that a run of letters is scanned once and not once for each letter. An
# escaped newline of JSON or a shell ends in a letter, which is no part of the word after it.
# The lookbehinds follow the first character, so that the regex engine skips all text without that character at once.
_BORDER = r"(?<![\w-].)|(?<=\\[nrt].)"
#: A vendor's token may also begin after `my_`.
_BEFORE = rf"(?:{_BORDER}|(?<=[A-Za-z0-9]_.))"
#: The first character of a pattern: a letter, a digit or a set.
_FIRST = re.compile(r"(?:\w|\[[^\]]+\])(?![{*+?])", re.ASCII)
_AFTER = r"(?![\w-])"


@dataclass(frozen=True, slots=True)
class TokenKind:
    """A kind of secret: the substrings that a text must contain to be searched, and the patterns."""

    name: str
    hints: tuple[str, ...]
    source: str
    #: Whether the pattern and its hints ignore case.
    lowered: bool = False
    rank: int = 0
    #: What a text must contain in lower case besides a hint; it may be anywhere.
    also: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled at the first text with a hint: most programs meet few kinds."""
        return _compiled(self.source, ignore_case=self.lowered)


@cache
def _compiled(source: str, *, ignore_case: bool) -> re.Pattern[str]:
    return re.compile(source, re.ASCII | re.IGNORECASE if ignore_case else re.ASCII)


def _token(name: str, hints: str, body: str, after: str = _AFTER) -> TokenKind:
    first = _FIRST.match(body)
    if first is None:
        raise ValueError(f"The pattern of {name} must begin with one character or set, without a quantifier: {body}")
    source = f"(?P<secret>{first[0]}{_BEFORE}{body[first.end() :]}){after}"
    return TokenKind(name, tuple(hints.split()), source)


def _block(name: str, heading: str) -> TokenKind:
    """Return the kind of a key between two lines of dashes; if the closing line is cut off, the lines of code count."""
    whole = r"(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{1,60}-----"
    # Lines may be indented, quoted, or escaped into one line.
    room = r"(?:\\[nr]|\s|>){0,24}+"
    cut = rf"(?:{room}[A-Za-z0-9+/=]{{40,}}+)++(?:{room}[A-Za-z0-9+/]{{1,40}}={{1,2}})?"
    label = f"-----BEGIN {heading}-----"
    return TokenKind(name, (label[:10],), f"(?P<secret>{label}(?:{whole}|{cut}))")


# The host after a URL password has a dot or a port, so that an `@` inside the password does not end it.
_HOST = r"(?:[\w-]{1,63}\.[\w.-]|\[|localhost\b|[\w-]{1,63}:[0-9])"
# A pattern that ignores case is tried at each character, unless its first set does not: `(?-i:[Bb])`.
_KINDS = (
    _block("pgp-key", "PGP PRIVATE KEY BLOCK"),
    _block("ssh-key", "OPENSSH PRIVATE KEY"),
    _block("private-key", "(?:(?:RSA|EC|DSA|ENCRYPTED|ANY) )?PRIVATE KEY"),
    TokenKind(
        "ssh-key",
        ("Private-Lines:",),
        r"Private-Lines: [0-9]{1,3}\s{1,2}(?P<secret>(?:[A-Za-z0-9+/=]{1,64}\s{0,2}){1,60}+)",
    ),
    *(_token(*vendor) for vendor in VENDORS),
    TokenKind(
        "jwt",
        ("eyJ",),
        rf"(?P<secret>e(?:{_BORDER})yJ[\w-]{{8,}}+\.[\w-]{{8,}}+\.[\w-]*+(?:\.[\w-]++){{0,2}}){_AFTER}",
    ),
    TokenKind(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{40,90}={0,2})",
        lowered=True,
    ),
    TokenKind("azure-sas", ("sig=",), r"(?<![a-z0-9])sig=(?P<secret>[A-Za-z0-9%+/]{40,140}+={0,2})"),
    TokenKind(
        "url-password",
        ("://",),
        # The name of a variable, a placeholder, a port and the password of an anonymous user are no secrets.
        r"://(?!anonymous:|ftp:)[^\s/:@\"'<>]{0,64}:(?![$<{%*]|[0-9]{1,5}/|(?:password|passwd|pass|pwd)@)(?P<secret>"
        rf"[^\s/\"'<>]{{3,128}}(?=@{_HOST})|(?:[^\s\"'<>/]|/(?!/)){{3,128}}?(?=@{_HOST})|[^\s/@\"'<>]{{3,128}}(?=@[\w.-]))",
        also="@",
    ),
    TokenKind(
        "otp-secret",
        ("otpauth://",),
        r"(?-i:[Oo])tpauth://[a-z]{1,10}+(?=[/?&])[^\s\"'<>?&]{0,200}+[?&](?:(?!secret=)[^\s\"'<>&]{0,200}+&){0,8}+"
        r"secret=(?P<secret>[A-Z2-7]{16,128})",
        lowered=True,
        also="secret=",
    ),
    TokenKind(
        "basic-auth",
        ("basic ",),
        r"(?-i:[Aa])uthorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?basic (?P<secret>[\w+/-]{8,}+={0,2})",
        lowered=True,
        rank=1,
        also="authorization",
    ),
    TokenKind(
        "bearer-token",
        ("bearer ",),
        r"(?-i:[Bb])(?<!\w.)earer {1,2}(?=[\w.~+/-]{0,200}[0-9])(?P<secret>[\w.~+/-]{16,}+={0,2})",
        lowered=True,
        rank=1,
    ),
)


#: The characters of a long word (see `long_words`); a hint of these characters is part of one.
_DIGIT = re.compile("[0-9]")
_OF_A_WORD = re.compile(r"[\w+/~.%-]+", re.ASCII)
_ONE_WORD = {vendor[0] for vendor in VENDORS} | {"jwt"}
#: Each with its characters: a text that lacks one of them need not be searched for the hint.
_IN_WORDS = [
    (hint, kind, frozenset(hint))
    for kind in _KINDS
    if kind.name in _ONE_WORD
    for hint in kind.hints
    if _OF_A_WORD.fullmatch(hint)
]
_IN_TEXT = [(hint, kind) for kind in _KINDS for hint in kind.hints if (hint, kind, frozenset(hint)) not in _IN_WORDS]


def hinted_kinds(text: str, lowered: str, words: Iterable[str]) -> dict[TokenKind, str]:
    """Return the kinds that a text may contain, each with the hint; `lowered` is the text in lower case."""
    # Tokens have digits or capitals; most long words of a program have neither.
    likely = "\n".join([word for word in words if not word.islower() or _DIGIT.search(word)])
    found: dict[TokenKind, str] = {}
    if likely:
        characters = frozenset(likely)
        found = {kind: hint for hint, kind, needed in _IN_WORDS if needed <= characters and hint in likely}
    found.update(
        {
            kind: hint
            for hint, kind in _IN_TEXT
            if hint in (lowered if kind.lowered else text) and (not kind.also or kind.also in lowered)
        }
    )
    return found


def find_tokens(text: str, kinds: Iterable[TokenKind]) -> Iterator[Span]:
    """Yield the secrets of these kinds."""
    for kind in kinds:
        for found in kind.pattern.finditer(text):
            yield (*found.span("secret"), kind.rank, kind.name)
