"""Statements: what a person says about themselves, by its form alone. English, and rather missed than wrong."""

import re
from dataclasses import dataclass

from recollectum.distil.secrecy import holds_secret
from recollectum.distil.sentences import Sentence
from recollectum.distil.statement_forms import forms
from recollectum.domain.memory import Kind

_LONGEST = 300
#: Nobody types so much about themselves at once: it is a paste.
_LONGEST_MESSAGE = 3000
_OF_REQUEST = 0.8

_LEAD = re.compile(
    r"(?:(?:hi|hello|hey|well|so|and|but|also|oh|ok|okay|yes|yeah|no|actually|btw|fyi|by the way|for the record|in fact"
    r"|besides|unfortunately|luckily|personally|sorry|thanks|just so you know|for what it's worth)(?: there)?"
    r"(?:[,:!]\s*|\s+[–-]\s+|\s+))*",
    re.IGNORECASE,
)
# Whoever says so does not say that it is so, or not for long.
_UNSURE = re.compile(
    r"\?|…|\.\.\.|\b(?:if|unless|whether|would|could|might|(?-i:may)|should|maybe|perhaps|probably|possibly|suppose"
    r"|imagine|pretend|assume|hypothetically|wish|hope|guess|think|wonder|not sure|kind of|sort of|as though|kidding"
    r"|joking|for example|e\.g\.|right now|at the moment|for now|tonight|this (?:morning|afternoon|evening)|today)\b",
    re.IGNORECASE,
)
# The sentences of such a message are a text to work on, not what its writer says.
_MATERIAL = re.compile(
    r"\b(?:translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|role-?play|pretend|act as|imagine|let's say"
    r"|the following|example sentence|in the voice of|from the perspective|fill in"
    r"|(?:write|draft|compose|generate)(?: me)? (?:an?|the|some|my)|correct (?:this|the|my) (?:text|grammar))\b",
    re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"(?:please |pls )?(?:remember|keep in mind|don't forget|make a note)(?:,? that\b|:)\s*(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """Words that tell something lasting, and what sort of thing."""

    start: int
    end: int
    #: As it was said, without what leads up to it.
    content: str
    kind: Kind
    importance: float


def is_material(text: str) -> bool:
    """Whether a message gives its reader a text to work on, so that nothing in it is said in earnest."""
    return len(text.strip()) > _LONGEST_MESSAGE or _MATERIAL.search(text) is not None


def is_unsure(text: str) -> bool:
    """Whether a sentence asks, supposes or tells of a moment."""
    return _UNSURE.search(text) is not None


def without_lead(text: str) -> int:
    """Where a sentence begins, after its "well" and "by the way"."""
    lead = _LEAD.match(text)
    return lead.end() if lead else 0


def statement(sentence: Sentence) -> Statement | None:
    """What the sentence tells of its writer; None for a question, a supposition, a quotation and all else."""
    # As long as before, so that places stay.
    text = sentence.text.replace("’", "'")
    if len(text) > _LONGEST or sentence.lead.startswith((">", "|")) or holds_secret(text) or is_unsure(text):
        return None
    start = without_lead(text)
    kind, importance = _form(text, start)
    if asked := _REMEMBER.match(text, start):
        start = asked.start("what")
        if len(asked["what"].split()) < 2:
            return None
        kind, importance = _form(text, start)[0] or Kind.FACT, _OF_REQUEST
    if kind is None:
        return None
    return Statement(sentence.start + start, sentence.end, sentence.text[start:], kind, importance)


def _form(text: str, start: int) -> tuple[Kind | None, float]:
    matching = ((kind, importance) for kind, importance, form in forms() if form.match(text, start))
    return next(matching, (None, 0.0))
