"""Finds first-person statements and corrections without a model; a person decides on all of them."""

from collections.abc import Iterator, Sequence

from recollectum.distil.date_resolution import resolve_dates
from recollectum.distil.rules.corrections import correction, replaced
from recollectum.distil.rules.standing_requests import read_request
from recollectum.distil.rules.statements import PersonalStatement, is_material, read_statements
from recollectum.distil.screening import Screened
from recollectum.distil.sentences import Sentence, sentences
from recollectum.domain.memory import Memory
from recollectum.domain.message import Message, Role
from recollectum.domain.proposal import RULES, Act, Finding, Span
from recollectum.domain.trust import Trust, least_trusted

_SAID = "the person said so"
_SET_RIGHT = "the person corrected it"
_OTHER_VALUE = "the person gave another value for the same thing"


def find_by_rules(
    conversation: Sequence[Message], said: Sequence[Screened], known: Sequence[Memory], *, imported: bool
) -> Iterator[Finding]:
    """Yield the first-person statements and corrections in the readable part of the person's messages, in order."""
    readable = {one.message.id: one for one in said}
    before = ""
    for message in conversation:
        if message.role is Role.ASSISTANT:
            # The unscreened message: its repetition of known facts shows which of them an answer corrects.
            before = message.text
        one = readable.get(message.id)
        if one and message.role is Role.USER and not is_material(one.text):
            for sentence in sentences(one.text):
                yield from _findings(one, sentence, before, known, imported=imported)


def _findings(
    source: Screened, sentence: Sentence, before: str, known: Sequence[Memory], *, imported: bool
) -> Iterator[Finding]:
    message = source.message
    trust = least_trusted(message.trust, Trust.IMPORTED) if imported else message.trust
    if right := correction(sentence, before, known):
        yield Finding(
            act=Act.SUPERSEDE,
            content=right.content,
            kind=right.memory.kind,
            importance=right.memory.importance,
            spans=(Span(message.id, sentence.start, sentence.end),),
            targets=(right.memory.id,),
            reason=_SET_RIGHT,
            trust=trust,
            by=RULES,
        )
        return
    requested = read_request(sentence)
    if requested:
        yield _told(requested, message, known, trust)
    for told in read_statements(sentence):
        if requested is None or told.start >= requested.end:
            yield _told(told, message, known, trust)


def _told(told: PersonalStatement, message: Message, known: Sequence[Memory], trust: Trust) -> Finding:
    old = replaced(told.content, known)
    return Finding(
        act=Act.SUPERSEDE if old else Act.ADD,
        content=resolve_dates(told.content, message.created_at.date()),
        kind=told.kind,
        importance=told.importance,
        spans=(Span(message.id, told.start, told.end),),
        targets=(old.id,) if old else (),
        reason=_OTHER_VALUE if old else _SAID,
        trust=trust,
        by=RULES,
    )
