"""Several reasons to believe in a candidate, added up to one score. Pure.

Both arms are brought to one scale, standard deviations over the pool of candidates, because a cosine and a BM25 score
have nothing else in common. What is added after them is in the same unit. Each reason is one that holds in any
conversation:

who    a question that names somebody is mostly answered by what they said, the more so when they speak of themselves
told   a turn that tells something answers more than one that asks, or says yes
echo   a turn that repeats what was said just before adds less than the one that said it first
when   a question that names a time is answered by what was said then or soon after
near   an answer and the question before it share what they are about: a turn gains from its neighbours by others
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

#: What is written has its subject in words; talk often has it in the turn before.
LEXICAL = 0.6
LEXICAL_WRITTEN = 0.75
WHO = 1.0
SELF = 0.5
NEAR = 0.2
TOLD = 3.0
TOLD_WORDS = 10
#: With so many words that tell, a turn is as good as a memory.
TOLD_ENOUGH = 20
ECHO = 2.0
WHEN = 1.5
#: Small, so that they settle what is otherwise even.
IMPORTANCE = 0.4
TRUST = 0.3
_ROUNDING = 1e-9


class Candidate(NamedTuple):
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


class Fused(NamedTuple):
    """A candidate's score: what the arms say together, and what each further reason added to it."""

    number: int
    score: float
    base: float
    added: tuple[tuple[str, float], ...]


class Scale(NamedTuple):
    """What turns both arms' scores into standard deviations of one pool."""

    cosine: tuple[float, float]
    bm25: tuple[float, float]

    def base(self, cosine: float | None, bm25: float, *, turn: bool) -> float:
        """What the two arms say together of a turn of a conversation, or of something written."""
        middle, unit = self.cosine
        near = 0.0 if cosine is None else (cosine - middle) * unit
        middle, unit = self.bm25
        return near + (LEXICAL if turn else LEXICAL_WRITTEN) * (bm25 - middle) * unit


def measure(cosines: Iterable[float], scores: Iterable[float]) -> Scale:
    """The scale of a pool of candidates: the cosines of those that have a vector, and the BM25 of all."""
    return Scale(_scale(list(cosines)), _scale(list(scores)))


def fuse(candidates: Sequence[Candidate], scale: Scale | None = None) -> tuple[list[Fused], Scale]:
    """Every candidate with its score, best first, ties to the newer; and the scale they were measured on."""
    if scale is None:
        scale = measure([one.cosine for one in candidates if one.cosine is not None], [one.bm25 for one in candidates])
    fused: list[Fused] = []
    for one in candidates:
        base = scale.base(one.cosine, one.bm25, turn=one.turn)
        added = _reasons(one)
        fused.append(Fused(one.number, base + sum([value for _, value in added]), base, tuple(added)))
    return _ordered(fused), scale


def draw_near(ranked: Sequence[Fused], beside: Mapping[int, Iterable[int]], base: Mapping[int, float]) -> list[Fused]:
    """The same with what each turn gains from its neighbours; `base` says what the arms think of those."""
    moved: list[Fused] = []
    for one in ranked:
        near = NEAR * sum([base[number] for number in beside.get(one.number, ()) if number in base])
        moved.append(one._replace(score=one.score + near, added=(*one.added, ("near", near))) if near else one)
    return _ordered(moved)


def _ordered(fused: list[Fused]) -> list[Fused]:
    return sorted(fused, key=lambda one: (-one.score, -one.number))


def _reasons(one: Candidate) -> list[tuple[str, float]]:
    """What each reason adds, without those that add nothing."""
    added: list[tuple[str, float]] = []
    if one.named:
        added.append(("who", WHO + SELF * one.own))
    if one.turn and one.told is not None:
        # Measured from an ordinary turn, since a memory or a document gains and loses nothing here.
        enough = TOLD_WORDS / (TOLD_ENOUGH + TOLD_WORDS)
        added.append(("told", TOLD * (enough - TOLD_WORDS / (one.told + TOLD_WORDS))))
    if one.echo:
        added.append(("echo", -ECHO * one.echo))
    if one.when:
        added.append(("when", WHEN * one.when))
    if one.importance != 0.5:
        added.append(("importance", IMPORTANCE * (one.importance - 0.5)))
    if one.distrust:
        added.append(("trust", -TRUST * one.distrust))
    return added


def _scale(values: list[float]) -> tuple[float, float]:
    """The middle of the values, and one over their spread."""
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / len(values))
    # Equal scores differ by rounding; to measure anything in that would be noise.
    return mean, 1 / spread if spread > _ROUNDING * max(1.0, abs(mean)) else 0.0
