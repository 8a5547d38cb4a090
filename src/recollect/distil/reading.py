"""Reading: one pass over a whole conversation, from what was said to what may be known."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.distil.answers import Window, findings_of
from recollect.distil.asking import SCHEMA, asked
from recollect.distil.echo import Served
from recollect.distil.reconciling import current, most_similar, reconciled
from recollect.distil.rules import found_by_rules
from recollect.distil.screening import Screen, Screened, screen_for, screened
from recollect.distil.windows import windows
from recollect.domain.errors import ModelGarbled
from recollect.domain.language_model import Usage
from recollect.domain.memory import Memory
from recollect.domain.message import Message
from recollect.domain.proposal import RULES, Finding, Span
from recollect.models.language import LanguageModel
from recollect.models.schemas import misfit

_NOTHING_SERVED = Served()


@dataclass(frozen=True, slots=True)
class Distilled:
    """What a conversation gave."""

    findings: tuple[Finding, ...]
    #: `rules`, or the model that read it.
    by: str
    #: What the model's calls cost together; None where none was made.
    usage: Usage | None
    #: How many findings did not hold: known already, without words that are really there, a secret, an echo.
    ignored: int


def distil(
    conversation: Sequence[Message],
    known: Sequence[Memory],
    *,
    model: LanguageModel | None,
    instructions: str | None = None,
    barred: Sequence[Span] = (),
    served: Served = _NOTHING_SERVED,
    imported: bool = False,
) -> Distilled:
    """What the conversation tells that is not known; a model that fails raises its ModelError and nothing is found.

    `barred` are the places a forgotten memory came from, `served` the texts that the agent was given. `instructions`
    take the place of ours on what is worth keeping.
    """
    held = current(known)
    screen = screen_for(conversation, held, barred=barred, served=served)
    said = screened(conversation, screen)
    if model is None:
        found, usage, dropped = list(found_by_rules(conversation, said, held, imported=imported)), None, 0
    else:
        found, usage, dropped = _read(said, held, screen, model, instructions, imported=imported)
    kept = reconciled(found, held)
    by = RULES if model is None else str(model.identity)
    return Distilled(tuple(kept), by, usage, dropped + len(found) - len(kept))


def _read(
    said: Sequence[Screened],
    known: Sequence[Memory],
    screen: Screen,
    model: LanguageModel,
    instructions: str | None,
    *,
    imported: bool,
) -> tuple[list[Finding], Usage | None, int]:
    found: list[Finding] = []
    usage: Usage | None = None
    dropped = 0
    for excerpts in windows(said):
        offered = most_similar(known, "\n".join(one.text for one in excerpts))
        reply = model.complete(asked(excerpts, offered, instructions))
        if problem := misfit(reply.value, SCHEMA):
            raise ModelGarbled(f"{model.identity} answered in a form that was not asked for ({problem}); try again")
        window = Window(excerpts=excerpts, known=offered, screen=screen, by=str(model.identity), imported=imported)
        findings, failed = findings_of(reply.value, window)
        found += findings
        dropped += failed
        usage = reply.usage if usage is None else _sum(usage, reply.usage)
    return found, usage, dropped


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        input=one.input + other.input, output=one.output + other.output, estimated=one.estimated or other.estimated
    )
