"""Plans which phrases to look up in a large index, so that frequent words do not make every chunk a candidate.

Reading all chunks with a frequent word takes time linear in their number, and says little. Every chunk with a rare
phrase is ranked; a frequent phrase counts only in chunks that also have one of those. The chunks that rank high by all
phrases are nearly always among them.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

#: Up to this many chunks every match is ranked: nothing is left out of a small vault.
SMALL = 20_000
#: In a larger vault about this many matches are ranked, or one chunk in `_PART` if that is more.
BUDGET = 4_000
_PART = 50
#: A phrase in more than one chunk of this many says little, and reading its chunks takes long.
_FREQUENT = 10
#: With fewer matches than this, those of one frequent phrase are better than none.
_ENOUGH = 60
#: The number of frequent phrases that are searched at all; more of them in a long question would only add cost.
_MOST_BESIDE = 6


class MatchPlan(NamedTuple):
    """The phrases to search, each group rarest first."""

    #: Every chunk with one of these is ranked.
    alone: tuple[str, ...]
    #: A frequent phrase, set if the rare ones have few or no chunks: its newest chunks are ranked too.
    leading: tuple[str, ...]
    #: These count in chunks that have one of the others.
    beside: tuple[str, ...]


def budget(total: int) -> int:
    """Return about how many of all chunks are ranked for one question."""
    return max(BUDGET, total // _PART)


def plan_match(frequencies: Mapping[str, int], total: int) -> MatchPlan:
    """Return the phrases that find the best of `total` chunks; the frequencies say how many have each phrase."""
    known = sorted((phrase for phrase, count in frequencies.items() if count), key=frequencies.__getitem__)
    if total <= SMALL:
        return MatchPlan(tuple(known), (), ())
    sums = list(accumulate(frequencies[phrase] for phrase in known))
    alone = sum(1 for reached in sums if reached <= budget(total))
    found = sums[alone - 1] if alone else 0
    leading = 1 if found < _ENOUGH else 0
    rest = known[alone + leading :]
    telling = [phrase for phrase in rest if frequencies[phrase] * _FREQUENT <= total]
    if not alone and not telling:
        # All are frequent; the rarest says most.
        telling = rest[:1]
    return MatchPlan(tuple(known[:alone]), tuple(known[alone : alone + leading]), tuple(telling[:_MOST_BESIDE]))
