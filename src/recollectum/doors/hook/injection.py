"""Chooses the memories that are injected at a session's start and with a prompt."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass

from recollectum.context.compiler import compile_context
from recollectum.domain.context import Budget, Parts, RecalledText
from recollectum.domain.hit import Hit
from recollectum.text.tokens import counter_for
from recollectum.vault.vault import Vault

#: Of a session's beginning, and of one prompt.
START_TOKENS = 1500
PROMPT_TOKENS = 800
_MOST_HITS = 6
#: How many more are asked for, since some stand in the conversation itself or were told before.
_SPARE = 14
#: Of a prompt; the rest of a long one is a paste, and would find itself.
_MAX_QUESTION = 2000
#: A prompt of fewer letters names nothing that could be looked for.
_FEWEST_LETTERS = 3
_MARK_BYTES = 8


@dataclass(frozen=True, slots=True)
class Injection:
    """What is told, and by which names it is known that it was."""

    text: str = ""
    ids: tuple[str, ...] = ()


def inject_at_start(vault: Vault, tokens: int = START_TOKENS) -> str:
    """The global notes, the profile and the learnings, inside a budget."""
    return vault.context(tokens=tokens, messages=0, memories=0).text


def inject_at_prompt(
    vault: Vault,
    prompt: str,
    *,
    sessions: Collection[str],
    told: Collection[str],
    tokens: int = PROMPT_TOKENS,
    meaning: bool = True,
) -> Injection:
    """What memory holds about a prompt, fenced as data, without the conversation itself and what was told before."""
    asked = prompt[:_MAX_QUESTION]
    if sum(char.isalpha() for char in asked) < _FEWEST_LETTERS:
        return Injection()
    hits = vault.recall(asked, limit=_MOST_HITS + _SPARE, meaning=meaning)
    new = [hit for hit in hits if hit.source.session_id not in sessions or hit.source.memory_id is not None]
    found = [text for text in map(_recalled, new) if text.id not in told][:_MOST_HITS]
    if not found:
        return Injection()
    budget = Budget(tokens=tokens, messages=0, memories=_MOST_HITS)
    made = compile_context(Parts(recalled=found), budget, counter_for(None), mark=secrets.token_hex(_MARK_BYTES))
    shown = tuple(line.id for line in made.ledger if line.left_out is None)
    return Injection(made.text, tuple(one.id for one in found if one.id in shown))


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
