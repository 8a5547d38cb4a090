"""Lets a small model choose among candidate sentences by number, and turns the choice into findings."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from recollectum.context.fences import one_line
from recollectum.distil.date_resolution import resolve_dates
from recollectum.distil.model.instructions import KINDS, Excerpt, closed_object, fence_mark, fenced, load_instructions
from recollectum.distil.reconciliation import words_of
from recollectum.distil.rules.statements import holds_secret, is_material, is_unsure, without_lead
from recollectum.distil.sentences import Sentence, sentences
from recollectum.domain.errors import ModelGarbled
from recollectum.domain.memory import Kind
from recollectum.domain.message import Json, Role
from recollectum.domain.models.language_model import Prompt, Turn, Usage
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust, least_trusted
from recollectum.models.language.json_schema import explain_misfit
from recollectum.models.language.port import LanguageModel

_LONGEST = 300
_FEWEST_WORDS = 3
#: A script without spaces says as much in this many characters.
_FEWEST_CHARACTERS = 5
_ENGLISH = re.compile(r"\b(?:the|is|are|was|am|to|of|and|for|with|have|has|that|this|it|at|my|i)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
# Said to the assistant about the current task: true for a minute.
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
class CandidateSentence:
    """A sentence that a person said, and its position."""

    excerpt: Excerpt
    span: Span
    #: As it was said, without its introduction.
    text: str


def find_candidates(excerpts: Iterable[Excerpt]) -> Iterator[CandidateSentence]:
    """Yield the sentences of the person's own fresh messages that may be chosen, in order.

    Questions, wishes and secrets are left out.
    """
    for one in excerpts:
        message = one.source.message
        if message.role is not Role.USER or not one.fresh or is_material(one.source.text):
            continue
        for sentence in sentences(one.text):
            if (begin := _told(sentence)) is not None:
                start, end = one.start + sentence.start + begin, one.start + sentence.end
                if not one.source.hides(start, end):
                    yield CandidateSentence(one, Span(message.id, start, end), sentence.text[begin:])


def _told(sentence: Sentence) -> int | None:
    """Return the start of the statement; None if there is none."""
    # The same length as before, so that positions stay valid.
    text = sentence.text.replace("’", "'")
    begin = without_lead(text)
    told = text[begin:]
    if len(told) > _LONGEST or sentence.lead.startswith((">", "|")) or holds_secret(text) or is_unsure(text):
        return None
    if "？" in told or not _is_long_enough(told) or _PASSING.match(told):
        return None
    # In another language these rules cannot tell who is meant.
    about_self = _FIRST_PERSON.search(told) or not _ENGLISH.search(told)
    return begin if about_self else None


def _is_long_enough(told: str) -> bool:
    spaced = told.isascii() or len(told.split()) > 1
    return len(told.split()) >= _FEWEST_WORDS if spaced else len(told) >= _FEWEST_CHARACTERS


#: The number of sentences shown at once: a small model soon loses count.
_AT_ONCE = 8
#: Correct examples, for a model that understands little else.
_SHOWN: tuple[tuple[Sequence[str], Sequence[int]], ...] = (
    (("I live in Oslo.", "I got the same error again.", "My wife is a teacher."), (1, 3)),
    (("I am trying it now.", "I hate mushrooms.", "I am writing a novel about the sea."), (2, 3)),
)


def batches(found: Sequence[CandidateSentence]) -> Iterator[Sequence[CandidateSentence]]:
    """Yield the candidates in batches that are shown at once."""
    for start in range(0, len(found), _AT_ONCE):
        yield found[start : start + _AT_ONCE]


def schema_for(count: int, *, wording: bool, least: int) -> Mapping[str, Json]:
    """Return the schema of an answer: numbers from 1 to `count`, each with its kind and wording if requested."""
    number: Mapping[str, Json] = {"type": "integer", "enum": list(range(1, count + 1))}
    if not wording:
        return closed_object({"lasting": {"type": "array", "items": number, "minItems": least, "maxItems": count}})
    kind: Mapping[str, Json] = {"type": "string", "enum": [one.value for one in KINDS]}
    # A model with good wording stops by itself, and not every server supports bounds.
    pick = closed_object({"sentence": number, "content": {"type": "string"}, "kind": kind})
    return closed_object({"lasting": {"type": "array", "items": pick}})


def choice_prompt(
    shown: Sequence[CandidateSentence], instructions: str | None, *, wording: bool, least: int = 0
) -> Prompt:
    """Return the prompt for one choice; the same for the same sentences."""
    mark = fence_mark(one.text for one in shown)
    lines = [f"[{number}] | {one_line(one.text, mark)}" for number, one in enumerate(shown, start=1)]
    system = load_instructions("choosing")
    if instructions is not None:
        system = f"{instructions.strip()}\n\n{system}"
    last = Turn(role=Role.USER, text=fenced("sentences", lines, mark))
    # Examples teach a small model the form; to a large one they would teach our taste against the instructions.
    turns = (last,) if wording else (*_examples(mark), last)
    return Prompt(
        turns=turns,
        system=system,
        schema=schema_for(len(shown), wording=wording, least=least),
        idempotency_id=f"choose-{fence_mark([system, last.text])}",
    )


def parse_choice(value: Json, shown: Sequence[CandidateSentence]) -> Iterator[tuple[CandidateSentence, Kind, str]]:
    """Yield each chosen sentence once, with its kind and the content to keep."""
    picks = cast("Sequence[int | Mapping[str, Json]]", cast("Mapping[str, Json]", value)["lasting"])
    seen: set[int] = set()
    for pick in picks:
        # A small model is not asked for the kind: it would answer anything.
        number, kind, worded = (pick, Kind.FACT, "") if isinstance(pick, int) else _worded(pick)
        if number not in seen:
            seen.add(number)
            one = shown[number - 1]
            yield one, kind, _content(worded, one.text)


def _worded(pick: Mapping[str, Json]) -> tuple[int, Kind, str]:
    return cast("int", pick["sentence"]), Kind(str(pick["kind"])), str(pick["content"])


def _content(worded: str, sentence: str) -> str:
    """Return the model's wording if the sentence supports every word of it, else the sentence."""
    plain = " ".join(worded.split())
    return plain if plain and bears_claim(sentence, plain) else " ".join(sentence.split())


def bears_claim(sentence: str, content: str) -> bool:
    """Return whether the sentence contains everything that is claimed, and neither negates the other."""
    claimed, given = words_of(content), words_of(sentence)
    stems = {term[:4] for term in given.terms}
    news = (term for term in claimed.telling if term not in given.terms and (len(term) < 4 or term[:4] not in stems))
    return bool(claimed.telling) and claimed.turns == given.turns and not any(news)


def _examples(mark: str) -> Iterator[Turn]:
    for texts, picks in _SHOWN:
        lines = [f"[{number}] | {text}" for number, text in enumerate(texts, start=1)]
        yield Turn(role=Role.USER, text=fenced("sentences", lines, mark))
        yield Turn(role=Role.ASSISTANT, text=json.dumps({"lasting": picks}))


_IMPORTANCE = 0.5
_REASON = "the person said so, and the model chose it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceOptions:
    """The options of a choice."""

    model: LanguageModel
    instructions: str | None
    imported: bool
    #: The findings of the rules in the same conversation: they know the kind, and what it replaces.
    ruled: Sequence[Finding] = ()
    #: Whether the model's own wording is worth requesting.
    wording: bool


def choose_findings(excerpts: Sequence[Excerpt], how: ChoiceOptions) -> tuple[list[Finding], Usage | None]:
    """Return the findings that the model chooses from these excerpts, and the cost; None if there was no candidate."""
    found: list[Finding] = []
    usage: Usage | None = None
    for shown in batches(list(find_candidates(excerpts))):
        # If a rule finds a statement, a small model is not asked whether there is one, but which.
        told = any(_ruled(one, how.ruled) for one in shown)
        prompt = choice_prompt(shown, how.instructions, wording=how.wording, least=int(told))
        reply = how.model.complete(prompt)
        if problem := explain_misfit(reply.value, prompt.schema or {}):
            raise ModelGarbled(f"{how.model.identity} answered in the wrong form ({problem}); try again")
        found += [_finding(one, kind, content, how) for one, kind, content in parse_choice(reply.value, shown)]
        usage = reply.usage if usage is None else usage + reply.usage
    return found, usage


def _finding(one: CandidateSentence, kind: Kind, content: str, how: ChoiceOptions) -> Finding:
    by = str(how.model.identity)
    if ruled := _ruled(one, how.ruled):
        return replace(ruled, by=by)
    message = one.excerpt.source.message
    return Finding(
        act=Act.ADD,
        content=resolve_dates(content, message.created_at.date()),
        kind=kind,
        importance=_IMPORTANCE,
        spans=(one.span,),
        reason=_REASON,
        trust=least_trusted(message.trust, Trust.IMPORTED) if how.imported else message.trust,
        by=by,
    )


def _ruled(one: CandidateSentence, ruled: Sequence[Finding]) -> Finding | None:
    """Return the rules' finding in the same words."""
    span = one.span
    return next(
        (
            finding
            for finding in ruled
            for other in finding.spans
            if other.message_id == span.message_id and other.start < span.end and span.start < other.end
        ),
        None,
    )
