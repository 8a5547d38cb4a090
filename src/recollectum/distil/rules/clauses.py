"""Splits a sentence into the clauses that its writer claims, up to a condition, a report or a question."""

import re
from collections.abc import Iterator, Sequence

from recollectum.domain.records import dataclass

_SELF = r"(?:I|I'm|I've|I'd|I'll|we|we're|we've|my|our)\b"
_BORDER = re.compile(rf"(?:[,;]|\s[–—-])\s+|(?<!\s)\s++(?=(?:and|but)\s{_SELF})", re.IGNORECASE)
#: A clause that begins so says something else than the one before it.
_APART = re.compile(
    rf"(?:(?:and|but|or|plus|though|while|since|because)\s+)?(?:{_SELF}"
    r"|(?:so|please|pls|thanks|thank you|if|unless|can|could|what|which|how|where|any|by the way|btw|lol|haha)\b)",
    re.IGNORECASE,
)
#: What follows holds only under it.
_CONDITION = re.compile(
    r"\b(?:if|unless|suppose|supposing|imagine|pretend|assume|assuming|hypothetically|wish|whether|in case|when"
    r"|once)\b",
    re.IGNORECASE,
)
_JOKE = re.compile(r"\b(?:kidding|joking|as if|yeah right)\b|(?:\A|\s)/s\Z", re.IGNORECASE)
_REPORT = re.compile(
    r"(?<!\bI )(?<!\bwe )"
    r"\b(?:said|says?|asked|asks|replied|claims?|claimed|told|tells|writes?|wrote|thinks|believes)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:think|guess|suppose|maybe|perhaps|probably|not sure|or so|or something|hear|believe)\b", re.IGNORECASE
)
_SPEAKER = re.compile(
    r"(?:\w+ ){1,2}(?:said|says|asked|replied|claims?|claimed|told|wrote|writes)(?: (?:me|us))?\W*\Z|(?:said|says)\b",
    re.IGNORECASE,
)
#: A clause of so few words can be about the one before it: "I think".
_FEW_WORDS = 4
_MARK = re.compile('["“”«»„]')
_ASKS = re.compile(
    r"(?:(?:so|and|but|or|then)\s+)?(?:(?:what|which|how|where|when|who|why|any)\b"
    r"|(?!is (?:that|it|this) (?:right|correct|true|so)\b)"
    r"(?:can|could|should|would|will|do|does|is|are|may|shall)\b(?:\s+\S+){3})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause, and whether it only adds to the clause before it."""

    start: int
    end: int
    text: str
    adds: bool


def claimed_clauses(text: str, start: int) -> Sequence[Clause]:
    """Return the clauses of a sentence from `start` on that its writer claims; none if they say that it is a joke."""
    parts = list(_split(text, start))
    if _JOKE.search(text):
        return ()
    if "?" in text:
        # "I live in Oslo, right?" asks for what it says; "I live in Oslo, which tax do I pay?" does not.
        if len(parts) < 2 or not _ASKS.match(parts[-1].text) or "?" in text[: parts[-1].start]:
            return ()
        parts = parts[:-1]
    claimed: list[Clause] = []
    for part in parts:
        report = _REPORT.search(part.text)
        doubt = len(part.text.split()) <= _FEW_WORDS and _DOUBT.search(part.text)
        if doubt or _SPEAKER.match(part.text):
            return ()
        if _MARK.search(part.text) and report:
            break
        claimed.append(part)
        if report or _CONDITION.search(part.text) or len(_MARK.findall(part.text)) % 2:
            break
    return claimed


def _split(text: str, start: int) -> Iterator[Clause]:
    begin = start
    for border in _BORDER.finditer(text, start):
        if border.start() > begin:
            yield _clause(text, begin, border.start(), first=begin == start)
        begin = border.end()
    if begin < len(text):
        yield _clause(text, begin, len(text), first=begin == start)


def _clause(text: str, start: int, end: int, *, first: bool) -> Clause:
    part = text[start:end]
    return Clause(start, end, part, adds=not first and not _APART.match(part))
