"""Several reasons to believe in a candidate, added up to one score. Pure.

Both arms are brought to one scale, standard deviations over the pool of candidates, because a cosine and a BM25 score
have nothing else in common. What is added after them is in the same unit. Each reason is one that holds in any
conversation:

who    a question that names somebody is mostly answered by what they said, the more so when they speak of themselves
near   an answer and the question before it share what they are about: a turn gains from its neighbours by others
told   a turn that tells something answers more than one that asks, or says yes
echo   a turn that repeats what was said just before adds less than the one that said it first
when   a question that names a time is answered by what was said then or soon after
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEXICAL = 0.6
WHO = 1.0
SELF = 0.5
NEAR = 0.25
TOLD = 2.0
TOLD_WORDS = 10
ECHO = 2.0
WHEN = 1.5
#: Small, so that they settle what is otherwise even.
IMPORTANCE = 0.4
_ROUNDING = 1e-9
TRUST = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
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
    #: Adjacent turns by other speakers, by number.
    neighbours: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate's score and what each further reason added to it."""

    number: int
    score: float
    added: tuple[tuple[str, float], ...]


def fuse(candidates: Sequence[Candidate], pool: set[int]) -> list[Fused]:
    """Every candidate with its score, best first; ties to the newer. The scale is that of the pool."""
    by_cosine = _scaled({one.number: one.cosine for one in candidates if one.cosine is not None}, pool)
    by_text = _scaled({one.number: one.bm25 for one in candidates}, pool)
    base = {one.number: by_cosine.get(one.number, 0.0) + LEXICAL * by_text[one.number] for one in candidates}
    fused: list[Fused] = []
    for one in candidates:
        if one.number not in pool:
            continue
        added = tuple((name, value) for name, value in _reasons(one, base) if value)
        fused.append(Fused(one.number, base[one.number] + sum(value for _, value in added), added))
    return sorted(fused, key=lambda one: (-one.score, -one.number))


def _reasons(one: Candidate, base: dict[int, float]) -> list[tuple[str, float]]:
    near = sum(base[number] for number in one.neighbours if number in base)
    return [
        ("who", (WHO + SELF * one.own) if one.named else 0.0),
        ("near", NEAR * near),
        # As a loss, so that a memory or a document, which has no such words, is not behind a turn for it.
        ("told", -TOLD * TOLD_WORDS / (one.told + TOLD_WORDS) if one.turn and one.told is not None else 0.0),
        ("echo", -ECHO * one.echo),
        ("when", WHEN * one.when),
        ("importance", IMPORTANCE * (one.importance - 0.5)),
        ("trust", -TRUST * one.distrust),
    ]


def _scaled(values: dict[int, float], pool: set[int]) -> dict[int, float]:
    """Standard deviations from the mean of the pool."""
    inside = [value for number, value in values.items() if number in pool]
    if not inside:
        return dict.fromkeys(values, 0.0)
    mean = math.fsum(inside) / len(inside)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in inside) / len(inside))
    # Equal scores differ by rounding; to measure anything in that would be noise.
    if spread <= _ROUNDING * max(1.0, abs(mean)):
        return dict.fromkeys(values, 0.0)
    return {number: (value - mean) / spread for number, value in values.items()}
