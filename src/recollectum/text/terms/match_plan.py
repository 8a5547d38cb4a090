"""Plans which phrases to look up in a large index, so that frequent words do not make every chunk a candidate.

Looking through all chunks with a frequent word takes as long as they are many, and says little. Of the rare phrases
every chunk is ranked; a frequent one counts where it stands beside one of those. What ranks high by all phrases is
nearly always among them.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

#: Up to this many chunks every match is ranked: nothing is left out of a small vault.
SMALL = 20_000
#: In a larger one about so many are, or one in so many where that is more.
BUDGET = 4_000
_PART = 50
#: A phrase of more than one chunk in so many says little, and looking through them takes long.
_FREQUENT = 10
#: With fewer matches than this, those of one frequent phrase are better than none.
_ENOUGH = 60
#: Frequent phrases that are looked for at all; the others of a long question would only add to its cost.
_MOST_BESIDE = 6


class MatchPlan(NamedTuple):
    """What to look for, each rarest first."""

    #: Every chunk with one of these is ranked.
    alone: tuple[str, ...]
    #: One that is frequent, where all of those together are few or none: of its chunks the newest are ranked too.
    leading: tuple[str, ...]
    #: These count in chunks that have one of the others.
    beside: tuple[str, ...]


def budget(total: int) -> int:
    """About how many of all chunks are ranked for one question."""
    return max(BUDGET, total // _PART)


def plan_match(frequencies: Mapping[str, int], total: int) -> MatchPlan:
    """What finds the best of `total` chunks; the frequencies say how many have each phrase."""
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
        # All are frequent; the rarest tell most.
        telling = rest[:1]
    return MatchPlan(tuple(known[:alone]), tuple(known[alone : alone + leading]), tuple(telling[:_MOST_BESIDE]))
