"""Extracts findings from a whole conversation: screen, split into windows, extract by model or rules, reconcile."""

from collections.abc import Iterator, Sequence

from recollectum.distil.model.answers import ShownWindow, verify_answer
from recollectum.distil.model.choices import ChoiceOptions, batches, choice_prompt, choose_findings, find_candidates
from recollectum.distil.model.instructions import SCHEMA, WINDOW, Excerpt, window_prompt, windows
from recollectum.distil.reconciliation import current_memories, fit_tokens, most_similar, reconcile
from recollectum.distil.rules.findings import find_by_rules
from recollectum.distil.screening import Screen, Screened, ServedTexts, screen_for, screen_messages
from recollectum.domain.errors import ModelGarbled
from recollectum.domain.memory import Memory
from recollectum.domain.message import Message
from recollectum.domain.models.language_model import Prompt, Usage
from recollectum.domain.proposal import RULES, Finding, Span
from recollectum.domain.records import dataclass
from recollectum.models.language.json_schema import explain_misfit
from recollectum.models.language.port import LanguageModel

_NOTHING_SERVED = ServedTexts()


@dataclass(frozen=True, slots=True)
class Distilled:
    """The findings of a conversation."""

    findings: tuple[Finding, ...]
    #: `rules`, or the name of the model.
    by: str
    #: The cost of all model calls; None if there was none.
    usage: Usage | None
    #: The number of rejected findings: known facts, missing quotations, secrets, echoes.
    ignored: int


def distil(
    conversation: Sequence[Message],
    known: Sequence[Memory],
    *,
    model: LanguageModel | None,
    instructions: str | None = None,
    barred: Sequence[Span] = (),
    served: ServedTexts = _NOTHING_SERVED,
    imported: bool = False,
) -> Distilled:
    """Return what is new in the conversation; if a model fails, raise its ModelError and return nothing.

    `barred` are the spans that forgotten memories came from, `served` the texts that the agent was given.
    `instructions` replace the default ones on what is worth keeping.
    """
    held = current_memories(known)
    screen = screen_for(conversation, held, barred=barred, served=served)
    said = screen_messages(conversation, screen)
    matter = _Task(said=said, known=held, screen=screen, instructions=instructions, imported=imported)
    ruled: list[Finding] = []
    if model is None or model.identity.small:
        ruled = list(find_by_rules(conversation, said, held, imported=imported))
    if model is None:
        found, usage, dropped = ruled, None, 0
    elif model.identity.small:
        found, usage, dropped = _chosen(matter, model, ruled)
    else:
        found, usage, dropped = _read(matter, model)
    kept = reconcile(found, held)
    by = RULES if model is None else str(model.identity)
    return Distilled(tuple(kept), by, usage, dropped + len(found) - len(kept))


def first_prompts(
    conversation: Sequence[Message],
    known: Sequence[Memory],
    *,
    model: LanguageModel,
    instructions: str | None = None,
    barred: Sequence[Span] = (),
    served: ServedTexts = _NOTHING_SERVED,
) -> Iterator[Prompt]:
    """Yield the first prompts that `distil` would send, without sending them; later ones depend on the answers."""
    held = current_memories(known)
    screen = screen_for(conversation, held, barred=barred, served=served)
    said = screen_messages(conversation, screen)
    if model.identity.small:
        for shown in batches(list(find_candidates(_whole(said)))):
            yield choice_prompt(shown, instructions, wording=False)
        return
    matter = _Task(said=said, known=held, screen=screen, instructions=instructions, imported=False)
    for _, _, prompt in _questions(matter, model):
        yield prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """The input of an extraction, and its options."""

    said: Sequence[Screened]
    known: Sequence[Memory]
    screen: Screen
    instructions: str | None
    imported: bool


def _chosen(matter: _Task, model: LanguageModel, ruled: Sequence[Finding]) -> tuple[list[Finding], Usage | None, int]:
    """Return the choices of a small model, then the rules' findings that it skipped: no model does worse than none."""
    how = ChoiceOptions(
        model=model, instructions=matter.instructions, imported=matter.imported, ruled=ruled, wording=False
    )
    picked, usage = choose_findings(_whole(matter.said), how)
    new = [one for one in picked if not matter.screen.heard.repeats(one.content)]
    taken = {span for one in picked for span in one.spans}
    rest = [one for one in ruled if taken.isdisjoint(one.spans)]
    return [*new, *rest], usage, len(picked) - len(new)


def _whole(said: Sequence[Screened]) -> list[Excerpt]:
    return [Excerpt(one, 0, len(one.text)) for one in said]


def _read(matter: _Task, model: LanguageModel) -> tuple[list[Finding], Usage | None, int]:
    found: list[Finding] = []
    usage: Usage | None = None
    dropped = 0
    for excerpts, offered, prompt in _questions(matter, model):
        reply = model.complete(prompt)
        if problem := explain_misfit(reply.value, SCHEMA):
            raise ModelGarbled(f"{model.identity} answered in the wrong form ({problem}); try again")
        window = ShownWindow(
            excerpts=excerpts, known=offered, screen=matter.screen, by=str(model.identity), imported=matter.imported
        )
        answer = verify_answer(reply.value, window)
        found += answer.findings
        dropped += answer.dropped
        usage = reply.usage if usage is None else usage + reply.usage
        if answer.misquotes:
            # It found something and cannot quote it: it may still choose among existing sentences.
            how = ChoiceOptions(model=model, instructions=matter.instructions, imported=matter.imported, wording=True)
            picked, more = choose_findings(excerpts, how)
            found += [one for one in picked if not matter.screen.heard.repeats(one.content)]
            usage = usage + more if more else usage
    return found, usage, dropped


def _questions(matter: _Task, model: LanguageModel) -> Iterator[tuple[Sequence[Excerpt], Sequence[Memory], Prompt]]:
    """Yield each window with the known memories that are shown beside it, and its prompt."""
    # A quarter for the conversation and one for known memories; the rest is for our instructions and the answer.
    room = model.identity.window_tokens // 4
    for excerpts in windows(matter.said, min(WINDOW, room) if room else WINDOW):
        offered = most_similar(matter.known, "\n".join(one.text for one in excerpts))
        fitting = fit_tokens(offered, room) if room else offered
        yield excerpts, fitting, window_prompt(excerpts, fitting, matter.instructions)
