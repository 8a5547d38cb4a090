"""Narrowing: what to look for in a large index, so that frequent words do not make every chunk a candidate.

Ranking one match costs twenty times as much as finding it. In a large index only these are ranked: the chunks with a
rare phrase, and those with at least two phrases, one of the rarer and one of the others. Each is ranked by all phrases
of the expression it matches, and what ranks high by all phrases is nearly always among them.
"""

from collections.abc import Iterable, Mapping, Sequence

#: Up to this many chunks every match is ranked: nothing is left out of a small vault.
SMALL = 20_000
#: About so many matches of one expression are ranked.
BUDGET = 2_000
#: A phrase of more than one chunk in so many says little, and counting it takes long.
_FREQUENT = 10
#: Frequent phrases that are looked for at all; the others of a long question would only add to its cost.
_MOST_OTHERS = 6
#: Words of one question stand together more often than chance would have it.
_TOGETHER = 3


def any_of(phrases: Iterable[str]) -> str:
    """A MATCH expression for any of the phrases."""
    return " OR ".join(phrases)


def narrowed(frequencies: Mapping[str, int], total: int) -> tuple[str, ...]:
    """MATCH expressions that find the best of `total` chunks; the frequencies say how many have each phrase.

    What several of them find has the best of its scores.
    """
    known = sorted((phrase for phrase, count in frequencies.items() if count), key=frequencies.__getitem__)
    if sum(frequencies.values()) <= 2 * BUDGET:
        return (any_of(known),) if known else ()
    rare = _within_budget(known, frequencies)
    others = [phrase for phrase in known[len(rare) :] if frequencies[phrase] * _FREQUENT <= total][:_MOST_OTHERS]
    if not rare and not others:
        # All are frequent; the rarest tell most.
        others = known[:2]
    alone = (any_of(rare),) if rare else ()
    return (*alone, _two_of(rare, others, frequencies, total)) if others else alone


def _within_budget(phrases: Sequence[str], frequencies: Mapping[str, int]) -> list[str]:
    """The rarest phrases, as many as may be ranked wherever they stand."""
    chosen: list[str] = []
    left = BUDGET
    for phrase in phrases:
        left -= frequencies[phrase]
        if left < 0:
            break
        chosen.append(phrase)
    return chosen


def _two_of(rare: list[str], others: list[str], frequencies: Mapping[str, int], total: int) -> str:
    """One of the rarer among the others, beside any phrase that is left: as many as the budget allows."""
    most = len(others) if rare else len(others) - 1
    for size in range(most, 0, -1):
        rarer, beside = others[:size], [*others[size:], *rare]
        share = min(1.0, _TOGETHER * sum(frequencies[phrase] for phrase in beside) / total)
        if size == 1 or sum(frequencies[phrase] for phrase in rarer) * share <= BUDGET:
            return f"({any_of(rarer)}) AND ({any_of(beside)})"
    return others[0]
