"""Hits inside a token budget."""

from dataclasses import replace

from recollectum.domain.hit import Hit, Neighbour, Recalled
from recollectum.text.tokens import estimate


def within_tokens(found: Recalled, tokens: int) -> Recalled:
    """The best hits that fit a budget; the first that does not ends the list. Neighbours come with what is left."""
    kept: list[Hit] = []
    for hit in found:
        cost = estimate(hit.text)
        if cost > tokens:
            break
        tokens -= cost
        kept.append(hit)
    alone: list[Hit] = []
    for hit in kept:
        before, tokens = _affordable(hit.before, tokens)
        after, tokens = _affordable(hit.after, tokens)
        alone.append(replace(hit, before=before, after=after))
    return Recalled(alone, found.rung, found.degraded, held_back=found.held_back)


def _affordable(neighbour: Neighbour | None, tokens: int) -> tuple[Neighbour | None, int]:
    if neighbour is None:
        return None, tokens
    cost = estimate(neighbour.text)
    return (neighbour, tokens - cost) if cost <= tokens else (None, tokens)
