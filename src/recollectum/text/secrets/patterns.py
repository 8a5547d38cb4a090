"""Finds secrets by a known token format, or by the name that is assigned to them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Start, end, rank of the kind (lower is more certain), and kind.
Span = tuple[int, int, int, str]
# Each pattern begins at the start of a word, so that a run of letters is scanned once and not once for each letter. An
# escaped newline of JSON or a shell ends in a letter, which is no part of the word after it.
_BEFORE = r"(?:(?<![\w-])|(?<=\\[nrt]))"
_AFTER = r"(?![\w-])"


@dataclass(frozen=True, slots=True)
class _TokenKind:
    """A kind of secret: the substrings that a text must contain to be searched, and the patterns."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    #: Whether the substrings are searched without regard to case.
    lowered: bool = False
    rank: int = 0


def _token(name: str, hints: str, body: str, after: str = _AFTER) -> _TokenKind:
    return _TokenKind(name, tuple(hints.split()), re.compile(f"{_BEFORE}(?P<secret>{body}){after}", re.ASCII))


def _block(name: str, heading: str) -> _TokenKind:
    """Return the kind of a key between two lines of dashes; if the closing line is cut off, the lines of code count."""
    whole = r"(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{1,60}-----"
    cut = r"(?:(?:\\[nr]|\s){0,4}[A-Za-z0-9+/=]{40,}+)++(?:(?:\\[nr]|\s){0,4}[A-Za-z0-9+/]{1,40}={1,2})?"
    label = f"-----BEGIN {heading}-----"
    return _TokenKind(name, (label[:10],), re.compile(f"(?P<secret>{label}(?:{whole}|{cut}))", re.ASCII))


_TOKEN_KINDS = (
    _block("pgp-key", "PGP PRIVATE KEY BLOCK"),
    _block("ssh-key", "OPENSSH PRIVATE KEY"),
    _block("private-key", "(?:(?:RSA|EC|DSA|ENCRYPTED|ANY) )?PRIVATE KEY"),
    _TokenKind(
        "ssh-key",
        ("Private-Lines:",),
        re.compile(r"Private-Lines: [0-9]{1,3}\s{1,2}(?P<secret>(?:[A-Za-z0-9+/=]{1,64}\s{0,2}){1,60}+)", re.ASCII),
    ),
    _token("age-key", "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _token("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,}+"),
    _token("openai-key", "sk-", r"sk-(?:(?:proj|svcacct|admin|None)-[\w-]{20,}+|[A-Za-z0-9]{32,}+)"),
    _token("openrouter-key", "sk-or-", r"sk-or-[\w-]{20,}+"),
    _token("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _token("google-oauth", "ya29. GOCSPX-", r"(?:ya29\.[\w-]{20,}+|GOCSPX-[\w-]{28})"),
    _token("aws-access-key", "AKIA ASIA", "A[KS]IA[A-Z0-9]{16}"),
    _token("github-token", "gh github_pat_", r"(?:gh[opsru]_[A-Za-z0-9]{36,}+|github_pat_\w{22,}+)"),
    _token("gitlab-token", "glpat- glrt- gldt- glptt- glcbt-", r"gl(?:pat|rt|dt|ptt|cbt)-[\w-]{20,}+(?:\.[\w-]{2,})*+"),
    _token("slack-token", "xox xapp-", r"(?:xox[abeoprs](?:\.xox[bp])?-|xapp-)[A-Za-z0-9-]{10,}+"),
    _token("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/[\w/+-]{30,}+"),
    _token("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{15,20}/[\w-]{40,}+"),
    _token("discord-token", ".", r"[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6,7}\.[\w-]{27,45}", r"(?![\w.-])"),
    _token(
        "stripe-key", "_live_ _test_ whsec_", r"(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/]{24,}+)"
    ),
    _token("jwt", "eyJ", r"eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+(?:\.[\w-]++){0,2}"),
    _token("npm-token", "npm_", "npm_[A-Za-z0-9]{36}"),
    _token("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{40,}+"),
    _token("telegram-token", ":AA", r"[0-9]{8,10}:AA[\w-]{32,34}"),
    _token("sendgrid-key", "SG.", r"SG\.[\w-]{20,24}\.[\w-]{39,50}"),
    _token("twilio-key", "SK", "SK[0-9a-f]{32}"),
    _token("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    _token("mailchimp-key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    _token("huggingface-token", "hf_", "hf_[A-Za-z0-9]{30,}+"),
    _token("digitalocean-token", "_v1_", "do[opr]_v1_[0-9a-f]{64}"),
    _token("shopify-token", "shp", "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _token("databricks-token", "dapi", "dapi[0-9a-f]{32}(?:-[0-9])?"),
    _token("vault-token", "hvs. hvb.", r"hv[bs]\.[\w-]{24,}+"),
    _token("docker-token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,}+"),
    _token("linear-key", "lin_api_", "lin_api_[A-Za-z0-9]{32,}+"),
    _token("notion-token", "ntn_ secret_", "(?:ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43})"),
    _token("groq-key", "gsk_", "gsk_[A-Za-z0-9]{40,}+"),
    _token("xai-key", "xai-", "xai-[A-Za-z0-9]{40,}+"),
    _token("perplexity-key", "pplx-", "pplx-[A-Za-z0-9]{40,}+"),
    _token("replicate-token", "r8_", "r8_[A-Za-z0-9]{30,}+"),
    _token("recollectum-key", "rk_", r"rk_(?!live_|test_)[\w-]{30,}+"),
    _TokenKind(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        re.compile(r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{40,90}={0,2})", re.ASCII | re.IGNORECASE),
        lowered=True,
    ),
    _TokenKind(
        "url-password",
        ("://",),
        # The name of a variable, or a placeholder, is no password.
        re.compile(
            r"://[^\s/:@\"'<>]{0,64}:(?![$<{%*])(?P<secret>[^\s/@\"'<>]{3,128})@(?=[\w\[.-])",
            re.ASCII,
        ),
    ),
    _TokenKind(
        "otp-secret",
        ("otpauth://",),
        re.compile(
            r"otpauth://[a-z]{1,10}+(?=[/?&])[^\s\"'<>?&]{0,200}+[?&](?:(?!secret=)[^\s\"'<>&]{0,200}+&){0,8}+"
            r"secret=(?P<secret>[A-Z2-7]{16,128})",
            re.ASCII | re.IGNORECASE,
        ),
        lowered=True,
    ),
    _TokenKind(
        "basic-auth",
        ("basic ",),
        re.compile(r"authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?basic (?P<secret>[\w+/-]{8,}+={0,2})", re.I | re.ASCII),
        lowered=True,
        rank=1,
    ),
    _TokenKind(
        "bearer-token",
        ("bearer ",),
        re.compile(r"(?<!\w)bearer {1,2}(?=[\w.~+/-]{0,200}[0-9])(?P<secret>[\w.~+/-]{16,}+={0,2})", re.I | re.ASCII),
        lowered=True,
        rank=1,
    ),
)


def find_tokens(text: str, lowered: str) -> Iterator[Span]:
    """Yield the secrets with a known token format; `lowered` is the text in lower case."""
    for kind in _TOKEN_KINDS:
        where = lowered if kind.lowered else text
        for hint in kind.hints:
            if hint in where:
                for found in kind.pattern.finditer(text):
                    yield (*found.span("secret"), kind.rank, kind.name)
                break


_RANK = 2
_SHORTEST_KEY = 16
_HINTS = ("pass", "pwd", "secret", "token", "key", "credential", "pin")
# The following patterns are matched against the text in lower case and begin with a letter, so that the regex engine
# skips all text without that letter at once; a pattern that ignores case is tried at each position.
_PASSWORD = "ass(?:word|wd|wort|phrase|code)|wd"
#: The owner of a key is written before it, and a lookbehind has a fixed width: hence one for each width.
_BEFORE_KEY = ("api", "auth", "access|master", "account|signing|private|storage|license", "encryption", "subscription")
_OWNED = "|".join(f"(?<=(?:{names}){joint}key)" for names in _BEFORE_KEY for joint in ("", "[_ -]"))
# These words are enough even after others, as in `client_secret` and `access_token`.
_KEYS = rf"secret(?:[_ -]?access)?[_ -]?key|secret|token|credentials?|key(?:{_OWNED})"
_QUOTED = r"(?P<quote>[\"'`])(?P<quoted>[^\s\"'`]{4,256})(?P=quote)"
_BARE = r"(?P<bare>[^\s\"'`,;<>(){}|\[\]]{4,256})"
# A name may go on (`password_prod`, `tokenValue`), but the sign that assigns the value follows soon.
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
# A value that is read from elsewhere, or a placeholder.
_REFERENCE = re.compile(
    r"[$<{%*&@/~.]|https?:|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|(?:x{3,}|\*{3,}|\.{3}|your|my[-_]|example|placeholder|redacted)"
    r"|(?:string|str|int|null|none|true|false|undefined|required|optional|text|password|secret|token|bytes|any)\b",
    re.IGNORECASE | re.ASCII,
)
# An exclamation mark may well be part of the password, so it is included.
_CLOSING = ".,;:?)"
_SMALL = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_LETTER = re.compile("[A-Za-z]")
_DIGIT = re.compile("[0-9]")
_SIGN = re.compile(r"[!@#$%^&*+=~?]")


def find_assigned(text: str, lowered: str) -> Iterator[Span]:
    """Yield the values assigned to names that secrets have; `lowered` is the text in lower case."""
    if not any(hint in lowered for hint in _HINTS):
        return
    # A few letters get longer in lower case, which shifts the positions.
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
    """Return the span of the value, if it is more than a word of the sentence or a name in a program."""
    group = "quoted" if found["quoted"] is not None else "bare"
    start, end = found.span(group)
    while group == "bare" and end > start and text[end - 1] in _CLOSING:
        end -= 1
    value = text[start:end].removesuffix("\\")
    # AWS keys have this length and may begin with a slash, like a path.
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
    """Return whether it is written like an environment variable: in capitals, without spaces around the sign."""
    before = text[found.start() : found.start("sign")]
    return before.isupper() and before == before.strip()


def _is_long_and_mixed(value: str) -> bool:
    """Return whether it looks like a key: long, with letters and digits, and many different characters."""
    return bool(len(value) >= _SHORTEST_KEY and _LETTER.search(value) and _DIGIT.search(value) and len(set(value)) >= 8)
