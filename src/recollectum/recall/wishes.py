"""Finds the standing wishes that bear on a request, such as "I prefer trains", and lifts them in its answer."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from recollectum.domain.memory import Kind
from recollectum.domain.message import Role
from recollectum.recall.ranking import ParsedQuestion, Ranking
from recollectum.recall.result_limits import MAY_BE_OWN
from recollectum.recall.scoring import FusedScore
from recollectum.recall.vectors.query import VectorQuery
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import search
from recollectum.storage.tables.index.hit_rows import ChunkDetail
from recollectum.storage.tables.index.search import Evidence
from recollectum.text.wishes import may_state_wish

#: What a text gains on a request if it has a word of a wish, in standard deviations of the candidates.
WISH_WEIGHT = 1.5
#: What the nearest memories of these kinds gain: they say what somebody likes, or how they want things done.
KIND_WEIGHT = 2.5
_KINDS = (Kind.PREFERENCE, Kind.CORRECTION)
_MOST_LIFTED = 3
#: How much nearer than the average text such a memory must be, in standard deviations of all texts.
_NEARER = 1.0
#: The most memories of these kinds that are compared with a request, and how many of them become candidates.
_MOST_COMPARED = 2_000
_MOST_CANDIDATES = 12
#: The number of best rows whose words are read.
WISH_HEAD = 60


def find_wishes(
    tx: Tx, question: ParsedQuestion, nearest: VectorQuery | None
) -> tuple[Sequence[int], AbstractSet[int]]:
    """Return the memories of wishes that are nearest to a request, nearest first, and all that were compared."""
    if not question.request or nearest is None:
        return (), frozenset()
    wishes = search.of_kinds(tx, _KINDS, _MOST_COMPARED)
    found = nearest.best(_MOST_CANDIDATES, wishes) if wishes else []
    # What a filter excludes must not become a candidate: all candidates together make the scale of the scores.
    return list(question.within.evidence(found)) if question.within.filtered else found, wishes


def lift_wishes(rows: Sequence[FusedScore], ranking: Ranking, details: Mapping[int, ChunkDetail]) -> list[FusedScore]:
    """Return the rows, best first, with what wishes gain; `details` has the texts of the rows whose words are read."""
    declared = ranking.pool.declared
    gains = {
        number: WISH_WEIGHT
        for number, found in details.items()
        # Of memories whose kind says that they are wishes, nearness alone decides.
        if number not in declared and _may_be_own(ranking.known[number]) and may_state_wish(found.text)
    }
    gains |= dict.fromkeys(_bearing(ranking), KIND_WEIGHT)
    lifted = [
        one._replace(score=one.score + gain, added=(*one.added, ("wish", gain)))
        if (gain := gains.get(one.number))
        else one
        for one in rows
    ]
    return sorted(lifted, key=lambda one: (-one.score, -one.number))


def _bearing(ranking: Ranking) -> list[int]:
    """Return the memories of wishes that are so near to the request that they probably bear on it."""
    nearest = ranking.pool.nearest
    if nearest is None:
        return []
    mean, deviation = nearest.background()
    near = [
        number
        for number in ranking.pool.wishes
        if number in ranking.known
        and _may_be_own(ranking.known[number])
        and ranking.cosines.get(number, 0.0) >= mean + _NEARER * deviation
    ]
    return near[:_MOST_LIFTED]


def _may_be_own(known: Evidence) -> bool:
    """Return whether the person may have said it: a fetched page that says "always" must not gain."""
    return known.trust in MAY_BE_OWN and known.role != Role.ASSISTANT
