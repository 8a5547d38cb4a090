"""Corrections: a person sets right what is known, by its form alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollectum.distil.attributes import attribute_of, contradicts
from recollectum.distil.sentences import Sentence
from recollectum.distil.statements import is_unsure
from recollectum.domain.memory import Memory

_VALUE = r"[^.,;!?\n]{1,60}?"
_NOT_BUT = re.compile(
    rf"(?:no[,.]? )?(?:it's|it is|that's|i'm|i am)?\s*not (?:in |at |a |an |the )?(?P<old>{_VALUE})(?:,? but|, it's|,) "
    rf"(?:in |at |a |an |the )?(?P<new>{_VALUE})[.!]*\Z",
    re.IGNORECASE,
)
_NO_ITS = re.compile(
    r"(?:no|nope|actually|sorry|wrong)[,.!]? (?:it's|it is|that's|it should be) (?:now |actually )?"
    rf"(?P<new>{_VALUE})[.!]*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A memory that no longer holds, and what holds in its place."""

    memory: Memory
    content: str


def replaced(content: str, known: Sequence[Memory]) -> Memory | None:
    """The one known memory that gives the same attribute another value than a new statement does."""
    told = attribute_of(content)
    if told is None:
        return None
    held = [(one, attribute_of(one.content)) for one in known]
    found = [one for one, attribute in held if attribute and contradicts(told, attribute)]
    return found[0] if len(found) == 1 else None


def correction(sentence: Sentence, before: str, known: Sequence[Memory]) -> Correction | None:
    """What a "no, it's …" or "not this but that" sets right; `before` is what the assistant had just said."""
    text = sentence.text.replace("’", "'")
    if is_unsure(text):
        return None
    if found := _NOT_BUT.match(text):
        old, new = found["old"], found["new"]
        return _only([one for one in known if _whole(old).search(one.content)], old, new)
    if found := _NO_ITS.match(text):
        return _answered(before, found["new"], known)
    return None


def _answered(before: str, new: str, known: Sequence[Memory]) -> Correction | None:
    """The assistant gave a known value, and the answer gives another."""
    held = [(one, attribute_of(one.content)) for one in known]
    given = [(one, told.value) for one, told in held if told and _whole(told.value).search(before)]
    return _only([given[0][0]], given[0][1], new) if len(given) == 1 else None


def _only(found: Sequence[Memory], old: str, new: str) -> Correction | None:
    # Which of two is meant, only the person knows.
    if len(found) != 1 or old.casefold() == new.casefold():
        return None
    return Correction(found[0], _whole(old).sub(lambda _: new, found[0].content))


def _whole(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
