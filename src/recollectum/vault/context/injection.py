"""Chooses the memories that are injected at a session's start and with a prompt."""

import secrets
from collections.abc import Collection
from typing import Protocol

from recollectum.context.compiler import compile_context
from recollectum.context.echoes import cut, marked_blocks
from recollectum.domain.context import Budget, Context, Parts, RecalledText
from recollectum.domain.hit import Hit, RecallResult
from recollectum.domain.records import dataclass
from recollectum.text.tokens import counter_for

#: The token budget at a session's start, and for one prompt.
START_TOKENS = 1500
PROMPT_TOKENS = 800
_MOST_HITS = 6
#: How many more hits are requested, because some are in the conversation itself or were injected before.
_SPARE = 14
#: Only the start of a long prompt is used: the rest is pasted text, which would match itself.
_MAX_QUESTION = 2000
#: A shorter prompt contains nothing to search for.
_FEWEST_LETTERS = 3
_MARK_BYTES = 8


@dataclass(frozen=True, slots=True)
class Injection:
    """The injected text, and what it contains: the ids, and the words."""

    text: str = ""
    ids: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


class Remembering(Protocol):
    """The part of a vault that is asked here."""

    def recall(
        self, query: str, *, limit: int, meaning: bool, answers_only: bool, project: str | None, personal: bool
    ) -> RecallResult:
        """Search the vault."""
        ...

    def context(self, *, tokens: int, messages: int, memories: int, project: str | None) -> Context:
        """Build the context for a model."""
        ...


def inject_at_start(vault: Remembering, tokens: int = START_TOKENS, project: str | None = None) -> Injection:
    """Return the global notes, the profile and the learnings of a project and personal ones, within a budget."""
    made = vault.context(tokens=tokens, messages=0, memories=0, project=project)
    return Injection(made.text, made.verbatim_ids, made.served)


def inject_at_prompt(
    vault: Remembering,
    prompt: str,
    *,
    sessions: Collection[str],
    told: Collection[str],
    tokens: int = PROMPT_TOKENS,
    meaning: bool = True,
    project: str | None = None,
) -> Injection:
    """Return memories about a prompt, fenced as data, without the conversation itself and earlier injections.

    `told` has the ids and the words of those. Only what is personal and what belongs to the project is returned.
    """
    # Some agents send the injection of the session's start with the prompt.
    asked = cut(prompt, marked_blocks(prompt))[:_MAX_QUESTION]
    if sum(char.isalpha() for char in asked) < _FEWEST_LETTERS:
        return Injection()
    hits = vault.recall(
        asked,
        limit=_MOST_HITS + _SPARE,
        meaning=meaning,
        answers_only=True,
        project=project,
        personal=project is None,
    )
    new = [hit for hit in hits if hit.source.session_id not in sessions or hit.source.memory_id is not None]
    found = [text for text in map(_recalled, new) if text.id not in told and text.text not in told][:_MOST_HITS]
    if not found:
        return Injection()
    budget = Budget(tokens=tokens, messages=0, memories=_MOST_HITS)
    made = compile_context(Parts(recalled=found), budget, counter_for(None), mark=secrets.token_hex(_MARK_BYTES))
    shown = tuple(line.id for line in made.ledger if line.left_out is None)
    return Injection(made.text, tuple(one.id for one in found if one.id in shown), made.served)


def _recalled(hit: Hit) -> RecalledText:
    source = hit.source
    id = source.memory_id or source.message_id or str(source)
    return RecalledText(
        id=id,
        text=hit.text,
        source=f"{source.kind.value} {source}",
        trust=hit.trust,
        author=hit.author or "unknown",
        at=hit.created_at,
    )
