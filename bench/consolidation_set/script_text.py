"""Writes the words of the scripted answers: in the third person, misquoted, denied, with another detail."""

import random
import re
from collections.abc import Iterator

from recollectum.domain.models.language_model import Prompt

_PERSON = (
    (r"\bI'm\b|\bI am\b", "the person is"),
    (r"\bI've\b|\bI have\b", "the person has"),
    (r"\bI'd\b", "the person would"),
    (r"\bwe're\b|\bwe are\b", "the person is"),
    (r"\bI\b|\bwe\b", "the person"),
    (r"\bmy\b|\bour\b", "the person's"),
    (r"\bme\b|\bus\b", "the person"),
)
_DENIAL = re.compile(r"\b(?:does not |do not |don't |doesn't |not |never )", re.IGNORECASE)
_CANNOT = re.compile(r"\b(?:cannot|can't)\b", re.IGNORECASE)
_HATES = re.compile(r"\bhate(s?)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z]\w+")
_PLACE = "Zagreb"
_CLAIMS = (
    "The person owns a sailing boat.",
    "The person studied law in Leiden.",
    "The person collects stamps from Peru.",
    "The person never drinks tea.",
)
_SENTENCE = re.compile(r"^\[(\d+)\] \| (.+)$", re.MULTILINE)


def to_third_person(words: str) -> str:
    """Return the words as a statement about "the person"."""
    told = words
    for pattern, instead in _PERSON:
        told = re.sub(pattern, instead, told, flags=re.IGNORECASE)
    return f"{told[:1].upper()}{told[1:].rstrip('.!')}."


def change_detail(content: str) -> str:
    """Return the content with another number or name; with a name more if it has none."""
    if _NUMBER.search(content):
        return _NUMBER.sub(lambda found: str(int(found[0]) + 7), content, count=1)
    changed, count = _NAME.subn(_PLACE, content, count=1)
    return changed if count else f"{content.rstrip('.')} in {_PLACE}."


def deny(content: str) -> str:
    """Return the opposite of the content."""
    for pattern, instead in ((_DENIAL, ""), (_CANNOT, "can"), (_HATES, r"like\1")):
        said, count = pattern.subn(instead, content, count=1)
        if count:
            return said
    return f"It is not so that {content[:1].lower()}{content[1:]}"


def loosen(words: str) -> str:
    """Return a quotation as models spoil it: in capitals, with curly marks and doubled spaces."""
    return f"“{words.upper().replace(' ', '  ')}”"


def misquote(words: str) -> str:
    """Return a quotation that nobody said."""
    return f"as I told you last week, {' '.join(reversed(words.split()))}"


def unsupported_claim(chance: random.Random) -> str:
    """Return a claim that no conversation of the set supports."""
    return chance.choice(_CLAIMS)


def shown_sentences(prompt: Prompt) -> Iterator[tuple[int, str]]:
    """Yield the numbered sentences of a choice."""
    yield from ((int(number), text.rstrip(".!")) for number, text in _SENTENCE.findall(prompt.turns[-1].text))
