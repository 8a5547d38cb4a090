"""Fuses z-scores of BM25 and cosine with further signals, and orders competing statements by recency."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

RECENCY_HEAD = 12
SAME_TOPIC = 0.5
#: Who asks how it was before is not served by how it is now.
_PAST_WORDS = re.compile(
    r"\b(first|original(ly)?|initial(ly)?|used to|previous(ly)?|former(ly)?|before|earliest|old(est)?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class DatedStatement:
    """One candidate as a statement: when it was made, its terms, and which of them the question asked for."""

    number: int
    created: int
    terms: frozenset[str]
    asked: frozenset[str]


def asks_for_the_past(query: str) -> bool:
    """Whether a question is after what was said before."""
    return _PAST_WORDS.search(query) is not None


def order_by_recency(statements: Sequence[DatedStatement]) -> list[int]:
    """The numbers of the statements, best first, with competitors ordered newest first."""
    order = [one.number for one in statements]
    free = [bool(one.asked) for one in statements]
    for place, one in enumerate(statements):
        if not free[place]:
            continue
        seats = [place] + [
            other for other in range(place + 1, len(statements)) if free[other] and _compete(one, statements[other])
        ]
        newest_first = sorted(((statements[seat].created, statements[seat].number) for seat in seats), reverse=True)
        for seat, (_, number) in zip(seats, newest_first, strict=True):
            order[seat] = number
            free[seat] = False
    return order


def _compete(one: DatedStatement, other: DatedStatement) -> bool:
    if one.asked != other.asked:
        return False
    shared = len(one.terms & other.terms)
    return shared >= SAME_TOPIC * len(one.terms | other.terms)


#: What is written has its subject in words; talk often has it in the turn before.
LEXICAL_WEIGHT = 0.6
WRITTEN_LEXICAL_WEIGHT = 0.75
SPEAKER_WEIGHT = 1.0
FIRST_PERSON_WEIGHT = 0.5
NEIGHBOUR_WEIGHT = 0.2
TOLD_WEIGHT = 3.0
TOLD_HALF_SATURATION = 10
#: With so many words that tell, a turn is as good as a memory.
TOLD_NEUTRAL = 20
ECHO_WEIGHT = 2.0
TIME_WEIGHT = 1.5
#: Small, so that they settle what is otherwise even.
IMPORTANCE_WEIGHT = 0.4
TRUST_WEIGHT = 0.3
_ROUNDING = 1e-9


class SearchCandidate(NamedTuple):
    """What is known of one chunk when a question is asked."""

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
    #: From 0 to 1; a half is ordinary.
    importance: float = 0.5
    #: Steps below the owner's own word.
    distrust: int = 0


class FusedScore(NamedTuple):
    """A candidate's score: what the arms say together, and what each further reason added to it."""

    number: int
    score: float
    base: float
    added: tuple[tuple[str, float], ...]


class ZScale(NamedTuple):
    """What turns both arms' scores into standard deviations of one pool."""

    cosine: tuple[float, float]
    bm25: tuple[float, float]

    def base(self, cosine: float | None, bm25: float, *, turn: bool) -> float:
        """What the two arms say together of a turn of a conversation, or of something written."""
        middle, unit = self.cosine
        near = 0.0 if cosine is None else (cosine - middle) * unit
        middle, unit = self.bm25
        return near + (LEXICAL_WEIGHT if turn else WRITTEN_LEXICAL_WEIGHT) * (bm25 - middle) * unit


def measure_scale(cosines: Iterable[float], scores: Iterable[float]) -> ZScale:
    """The scale of a pool of candidates: the cosines of those that have a vector, and the BM25 of all."""
    return ZScale(_mean_and_inverse_deviation(list(cosines)), _mean_and_inverse_deviation(list(scores)))


def fuse_scores(candidates: Sequence[SearchCandidate], scale: ZScale | None = None) -> tuple[list[FusedScore], ZScale]:
    """Every candidate with its score, best first, ties to the newer; and the scale they were measured on."""
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
    """The same with what each turn gains from its neighbours; `base` says what the arms think of those."""
    moved: list[FusedScore] = []
    for one in ranked:
        near = NEIGHBOUR_WEIGHT * sum([base[number] for number in beside.get(one.number, ()) if number in base])
        moved.append(one._replace(score=one.score + near, added=(*one.added, ("near", near))) if near else one)
    return _by_score(moved)


def _by_score(fused: list[FusedScore]) -> list[FusedScore]:
    return sorted(fused, key=lambda one: (-one.score, -one.number))


def _signal_scores(one: SearchCandidate) -> list[tuple[str, float]]:
    """What each reason adds, without those that add nothing."""
    added: list[tuple[str, float]] = []
    if one.named:
        added.append(("who", SPEAKER_WEIGHT + FIRST_PERSON_WEIGHT * one.own))
    if one.turn and one.told is not None:
        # Measured from an ordinary turn, since a memory or a document gains and loses nothing here.
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
    """The middle of the values, and one over their spread."""
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / len(values))
    # Equal scores differ by rounding; to measure anything in that would be noise.
    return mean, 1 / spread if spread > _ROUNDING * max(1.0, abs(mean)) else 0.0
