"""Candidates: the sentences of a person that may tell something lasting, for a model that chooses among them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recollectum.distil.secrecy import holds_secret
from recollectum.distil.sentences import Sentence, sentences
from recollectum.distil.statements import is_material, is_unsure, without_lead
from recollectum.distil.windows import Excerpt
from recollectum.domain.message import Role
from recollectum.domain.proposal import Span

_LONGEST = 300
_FEWEST_WORDS = 3
#: A script that sets no spaces says as much in so many characters.
_FEWEST_CHARACTERS = 5

_ENGLISH = re.compile(r"\b(?:the|is|are|was|am|to|of|and|for|with|have|has|that|this|it|at|my|i)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
# Said to the assistant about the work at hand: true for a minute.
_PASSING = re.compile(
    r"(?:thanks|thank you|please|can you|tell me|show me|give me|help|let's|let me|bye|great|perfect)\b"
    r"|(?:I|we)(?:'ll| will| am going to|'m going to) (?:read|try|check|look|think|see|come back|let you)\b"
    r"|(?:I|we)(?:'m| am|'re| are) (?:back|here|done|ready|sorry|lost|confused|stuck)\b"
    r"|(?:I|we)(?: just| only)? (?:see|saw|get|got|clicked|pressed|opened|tried|pasted|uploaded|meant)\b"
    r"|I have (?:a|another|one|some) (?:question|problem|issue|idea)s?\b"
    r"|I (?:like|love) (?:this|that|it|your)\b"
    r"|.*\b(?:log|error|traceback|build|code|file|screenshot|attached|pasted|below|above)\b.*\b(?:log|error|again|fails?"
    r"|below|above|attached|line \d+)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that a person said, and where."""

    excerpt: Excerpt
    span: Span
    #: As it was said, without what leads up to it.
    text: str


def candidates(excerpts: Iterable[Excerpt]) -> Iterator[Candidate]:
    """What may be chosen of the person's own fresh messages, in order; a question, a wish or a secret may not."""
    for one in excerpts:
        message = one.source.message
        if message.role is not Role.USER or not one.fresh or is_material(one.source.text):
            continue
        for sentence in sentences(one.text):
            if (begin := _told(sentence)) is not None:
                start, end = one.start + sentence.start + begin, one.start + sentence.end
                if not one.source.hides(start, end):
                    yield Candidate(one, Span(message.id, start, end), sentence.text[begin:])


def _told(sentence: Sentence) -> int | None:
    """Where what it tells begins; None where it tells nothing."""
    # As long as before, so that places stay.
    text = sentence.text.replace("’", "'")
    begin = without_lead(text)
    told = text[begin:]
    if len(told) > _LONGEST or sentence.lead.startswith((">", "|")) or holds_secret(text) or is_unsure(text):
        return None
    if "？" in told or not _is_long_enough(told) or _PASSING.match(told):
        return None
    # In another language nobody here knows who is spoken of.
    about_self = _FIRST_PERSON.search(told) or not _ENGLISH.search(told)
    return begin if about_self else None


def _is_long_enough(told: str) -> bool:
    spaced = told.isascii() or len(told.split()) > 1
    return len(told.split()) >= _FEWEST_WORDS if spaced else len(told) >= _FEWEST_CHARACTERS
