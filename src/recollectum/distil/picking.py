"""Picking: what a model chose of a conversation, as findings; each is a sentence that stands where it says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollectum.distil.candidates import Candidate, candidates
from recollectum.distil.choosing import batches, choice, chosen
from recollectum.distil.dating import dated
from recollectum.distil.windows import Excerpt
from recollectum.domain.errors import ModelGarbled
from recollectum.domain.language_model import Usage
from recollectum.domain.memory import Kind
from recollectum.domain.proposal import Act, Finding
from recollectum.domain.trust import Trust, least
from recollectum.models.language import LanguageModel
from recollectum.models.schemas import misfit

_IMPORTANCE = 0.5
_REASON = "the person said so, and the model chose it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picking:
    """How a model chooses."""

    model: LanguageModel
    instructions: str | None
    imported: bool
    #: What rules found in the same conversation: they know the kind, and what it replaces.
    ruled: Sequence[Finding] = ()
    #: Whether the model's own wording is worth asking for.
    wording: bool


def pick(excerpts: Sequence[Excerpt], how: Picking) -> tuple[list[Finding], Usage | None]:
    """What the model chooses of these excerpts, and what asking cost; None where there was nothing to choose from."""
    found: list[Finding] = []
    usage: Usage | None = None
    for shown in batches(list(candidates(excerpts))):
        # Where a rule sees that something is told, a small model is not asked whether, but what.
        told = any(_ruled(one, how.ruled) for one in shown)
        prompt = choice(shown, how.instructions, wording=how.wording, least=int(told))
        reply = how.model.complete(prompt)
        if problem := misfit(reply.value, prompt.schema or {}):
            raise ModelGarbled(f"{how.model.identity} answered in a form that was not asked for ({problem}); try again")
        found += [_finding(one, kind, content, how) for one, kind, content in chosen(reply.value, shown)]
        usage = reply.usage if usage is None else usage + reply.usage
    return found, usage


def _finding(one: Candidate, kind: Kind, content: str, how: Picking) -> Finding:
    by = str(how.model.identity)
    if ruled := _ruled(one, how.ruled):
        return replace(ruled, by=by)
    message = one.excerpt.source.message
    return Finding(
        act=Act.ADD,
        content=dated(content, message.created_at.date()),
        kind=kind,
        importance=_IMPORTANCE,
        spans=(one.span,),
        reason=_REASON,
        trust=least(message.trust, Trust.IMPORTED) if how.imported else message.trust,
        by=by,
    )


def _ruled(one: Candidate, ruled: Sequence[Finding]) -> Finding | None:
    """What rules found in the same words."""
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
