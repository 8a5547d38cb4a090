"""Limits what one recall returns: a token budget, and a cap on hits of untrusted origin."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollectum.domain.hit import Hit, Neighbour, RecallResult
from recollectum.domain.trust import Trust
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import hit_rows
from recollectum.text.tokens import estimate


def fit_token_budget(found: RecallResult, tokens: int) -> RecallResult:
    """Return the best hits that fit a budget, up to the first that does not; neighbours use what is left."""
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
    return found.with_hits(alone)


def _affordable(neighbour: Neighbour | None, tokens: int) -> tuple[Neighbour | None, int]:
    if neighbour is None:
        return None, tokens
    cost = estimate(neighbour.text)
    return (neighbour, tokens - cost) if cost <= tokens else (None, tokens)


#: The cap on untrusted hits by the value of the setting; None is no cap.
CAP_BY_SETTING = {"one": 1, "none": 0, "all": None}
#: The trust levels of a text that could be the person's own.
MAY_BE_OWN = (Trust.OWNER, Trust.ASSISTANT, Trust.IMPORTED)
_OWN = frozenset({Trust.OWNER, Trust.ASSISTANT})
_NEVER = frozenset({Trust.TOOL, Trust.UNKNOWN})


def apply_cap(tx: Tx, found: Sequence[tuple[int, Hit]], size: int, most: int) -> tuple[list[tuple[int, Hit]], int]:
    """Return the first hits with at most `most` of untrusted origin, and how many were held back."""
    doubtful = _untrusted_positions(tx, [hit for _, hit in found])
    kept: list[tuple[int, Hit]] = []
    shown = held = 0
    for place, one in enumerate(found):
        if len(kept) == size:
            break
        if place in doubtful and shown == most:
            held += 1
            continue
        shown += place in doubtful
        kept.append(one)
    return kept, held


def _untrusted_positions(tx: Tx, found: Iterable[Hit]) -> set[int]:
    """Return the positions of the hits of untrusted origin."""
    doubtful: set[int] = set()
    brought: dict[int, Hit] = {}
    for place, hit in enumerate(found):
        if hit.trust in _NEVER:
            doubtful.add(place)
        elif hit.trust is Trust.IMPORTED:
            brought[place] = hit
    if brought:
        origins = [hit.source.memory_id or hit.source.message_id for hit in brought.values()]
        behind = hit_rows.trusts_behind(tx, [one for one in origins if one])
        for place, hit in brought.items():
            trusts = behind.get(hit.source.memory_id or hit.source.message_id or "")
            if not trusts or not trusts <= _OWN:
                doubtful.add(place)
    return doubtful


def without_untrusted_neighbours(hits: list[Hit]) -> list[Hit]:
    """Return the hits without neighbours that a tool wrote: the cap applies to them as well."""
    return [
        replace(hit, before=_is_trusted_neighbour(hit.before), after=_is_trusted_neighbour(hit.after))
        if any(one and one.trust in _NEVER for one in (hit.before, hit.after))
        else hit
        for hit in hits
    ]


def _is_trusted_neighbour(neighbour: Neighbour | None) -> Neighbour | None:
    return None if neighbour and neighbour.trust in _NEVER else neighbour
