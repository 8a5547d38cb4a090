"""Fuses z-scores of BM25 and cosine with further signals."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

#: A written text names its subject; a turn often has it in the turn before.
LEXICAL_WEIGHT = 0.6
WRITTEN_LEXICAL_WEIGHT = 0.75
SPEAKER_WEIGHT = 1.0
FIRST_PERSON_WEIGHT = 0.5
NEIGHBOUR_WEIGHT = 0.2
TOLD_WEIGHT = 3.0
TOLD_HALF_SATURATION = 10
#: With this many words that tell something, a turn is as good as a memory.
TOLD_NEUTRAL = 20
ECHO_WEIGHT = 2.0
TIME_WEIGHT = 1.5
#: Small weights, which decide between otherwise equal scores.
IMPORTANCE_WEIGHT = 0.4
TRUST_WEIGHT = 0.3
_ROUNDING = 1e-9


class SearchCandidate(NamedTuple):
    """The features of one chunk for one question."""

    number: int
    #: None when it has no vector yet.
    cosine: float | None
    bm25: float
    #: Whether it is a turn of a conversation, and not a memory or a document.
    turn: bool = False
    named: bool = False
    own: bool = False
    told: int | None = None
    echo: float = 0.0
    #: How well its time fits the one that the question names, from 0 to 1.
    when: float = 0.0
    #: From 0 to 1; 0.5 is normal.
    importance: float = 0.5
    #: The number of trust levels below the owner's own word.
    distrust: int = 0


class FusedScore(NamedTuple):
    """The score of a candidate: the fused score of the arms, and what each further signal added to it."""

    number: int
    score: float
    base: float
    added: tuple[tuple[str, float], ...]


class ZScale(NamedTuple):
    """The means and deviations that turn both arms' scores into z-scores of one pool."""

    cosine: tuple[float, float]
    bm25: tuple[float, float]

    def base(self, cosine: float | None, bm25: float, *, turn: bool) -> float:
        """Return the fused score of both arms for a turn of a conversation, or for a written text."""
        middle, unit = self.cosine
        near = 0.0 if cosine is None else (cosine - middle) * unit
        middle, unit = self.bm25
        return near + (LEXICAL_WEIGHT if turn else WRITTEN_LEXICAL_WEIGHT) * (bm25 - middle) * unit


def measure_scale(cosines: Iterable[float], scores: Iterable[float]) -> ZScale:
    """Return the scale of a pool of candidates: the cosines of those that have a vector, and the BM25 scores of all."""
    return ZScale(_mean_and_inverse_deviation(list(cosines)), _mean_and_inverse_deviation(list(scores)))


def fuse_scores(candidates: Sequence[SearchCandidate], scale: ZScale | None = None) -> tuple[list[FusedScore], ZScale]:
    """Return every candidate with its score, best first, the newer first in a tie; and the scale."""
    if scale is None:
        scale = measure_scale(
            [one.cosine for one in candidates if one.cosine is not None], [one.bm25 for one in candidates]
        )
    fused: list[FusedScore] = []
    for one in candidates:
        base = scale.base(one.cosine, one.bm25, turn=one.turn)
        added = _signal_scores(one)
        fused.append(FusedScore(one.number, base + sum([value for _, value in added]), base, tuple(added)))
    return _by_score(fused), scale


def boost_by_neighbours(
    ranked: Sequence[FusedScore], beside: Mapping[int, Iterable[int]], base: Mapping[int, float]
) -> list[FusedScore]:
    """Return the scores with what each turn gains from its neighbours; `base` has the neighbours' fused scores."""
    moved: list[FusedScore] = []
    for one in ranked:
        near = NEIGHBOUR_WEIGHT * sum([base[number] for number in beside.get(one.number, ()) if number in base])
        moved.append(one._replace(score=one.score + near, added=(*one.added, ("near", near))) if near else one)
    return _by_score(moved)


def _by_score(fused: list[FusedScore]) -> list[FusedScore]:
    return sorted(fused, key=lambda one: (-one.score, -one.number))


def _signal_scores(one: SearchCandidate) -> list[tuple[str, float]]:
    """Return what each signal adds, without those that add nothing."""
    added: list[tuple[str, float]] = []
    if one.named:
        added.append(("who", SPEAKER_WEIGHT + FIRST_PERSON_WEIGHT * one.own))
    if one.turn and one.told is not None:
        # Measured from an average turn, since a memory or a document gains and loses nothing here.
        enough = TOLD_HALF_SATURATION / (TOLD_NEUTRAL + TOLD_HALF_SATURATION)
        added.append(("told", TOLD_WEIGHT * (enough - TOLD_HALF_SATURATION / (one.told + TOLD_HALF_SATURATION))))
    if one.echo:
        added.append(("echo", -ECHO_WEIGHT * one.echo))
    if one.when:
        added.append(("when", TIME_WEIGHT * one.when))
    if one.importance != 0.5:
        added.append(("importance", IMPORTANCE_WEIGHT * (one.importance - 0.5)))
    if one.distrust:
        added.append(("trust", -TRUST_WEIGHT * one.distrust))
    return added


def _mean_and_inverse_deviation(values: list[float]) -> tuple[float, float]:
    """Return the mean of the values, and the inverse of their deviation."""
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / len(values))
    # Equal scores differ by rounding; scaling that difference would amplify noise.
    return mean, 1 / spread if spread > _ROUNDING * max(1.0, abs(mean)) else 0.0
