"""Turns the evidence for a hit into the chance that it is relevant: logistic regression, fitted on labelled questions.

Fused scores are standard deviations within one pool of candidates, so they say nothing across questions: the best of
five poor candidates looks like the best of five good ones. Here the chance has two factors. The first says whether the
vault answers the question at all, from evidence that means the same for every question; the second, which hit it is.

`python -m bench calibration` measures both factors and prints them fitted again.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from recollectum.domain.hit import AnswerEvidence
from recollectum.domain.models.embedder import EmbedderIdentity
from recollectum.domain.records import dataclass
from recollectum.storage.port import Matches
from recollectum.text.terms.analyser import QueryTerm, phrases

#: The evidence is read off the first rows of a ranking, however many hits are asked for.
EVIDENCE_ROWS = 10
#: The sizes of vaults that were measured; beyond them the nearest of these counts.
_SMALLEST_MEASURED, _LARGEST_MEASURED = 5, 10_000
#: BM25 gives a term at most this many times its inverse document frequency.
_BM25_MOST = 2.2


class AnswerWeights(NamedTuple):
    """What each piece of evidence adds to the log odds that the vault answers a question."""

    constant: float
    coverage: float
    missing: float
    words: float
    fused: float
    #: For the natural logarithm of the number of chunks.
    size: float = 0.0
    turns: float = 0.0
    cosine: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0


class HitWeights(NamedTuple):
    """What each piece of evidence adds to the log odds that one hit is relevant where the vault has an answer."""

    constant: float
    rank: float
    fused: float
    behind: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The fitted weights for one embedder, or for search by words alone."""

    answer: AnswerWeights
    hit: HitWeights
    #: Where nothing reaches this chance, the vault is taken to have no answer.
    floor: float

    def chances(self, evidence: AnswerEvidence, fused: Iterable[float]) -> list[float]:
        """Return the chance of each hit, best first and never rising, from the fused scores of the hits in order."""
        answered = self.answered(evidence)
        chances: list[float] = []
        for rank, score in enumerate(fused):
            weights = self.hit
            odds = weights.constant + weights.rank * math.log1p(rank) + weights.fused * score
            odds += weights.behind * (evidence.fused - score)
            chance = answered * _chance(odds)
            chances.append(min(chance, chances[-1]) if chances else chance)
        return chances

    def answered(self, evidence: AnswerEvidence) -> float:
        """Return the chance that the vault answers the question."""
        weights = self.answer
        return _chance(
            weights.constant
            + weights.coverage * evidence.coverage
            + weights.missing * evidence.missing
            + weights.words * evidence.words
            + weights.fused * evidence.fused
            + weights.size * log_size(evidence)
            + weights.turns * evidence.turns
            + weights.cosine * evidence.cosine
            + weights.mean * evidence.mean
            + weights.deviation * evidence.deviation
        )


def log_size(evidence: AnswerEvidence) -> float:
    """Return the logarithm of the number of chunks, within the sizes that were measured."""
    return math.log(max(_SMALLEST_MEASURED, min(evidence.chunks, _LARGEST_MEASURED)))


def word_evidence(terms: Iterable[QueryTerm], matches: Matches, best: float) -> tuple[float, float, int]:
    """Return how well the best chunk covers the words of a question, which share no chunk has, and their number.

    Words count by their inverse document frequency, so that a rare word that is missing counts more than a common one.
    """
    total = absent = 0.0
    telling = False
    words: dict[str, list[QueryTerm]] = {}
    for term in terms:
        words.setdefault(term.word.casefold(), []).append(term)
    for alternatives in words.values():
        frequency = max(matches.frequency(phrase) for phrase in phrases(alternatives))
        weight = math.log1p((max(0, matches.chunks - frequency) + 0.5) / (frequency + 0.5))
        total += weight
        absent += 0.0 if frequency else weight
        telling = telling or 2 * frequency <= matches.chunks
    if not total:
        return 0.0, 0.0, len(words)
    if not telling:
        # BM25 gives nothing for a word that most texts have; then most texts are an answer.
        return 1.0, 0.0, len(words)
    return best / (_BM25_MOST * total), absent / total, len(words)


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))


#: By provider, model and digest of the embedder; None for search by words alone. Fitted on five labelled sets
#: and on small vaults, with half of the questions foreign; docs/concepts/recall.md has the figures.
CALIBRATIONS: Mapping[tuple[str, str, str] | None, Calibration] = {
    ("local", "recollectum-embed", "1c69736704be486eba61abedc412607e750a4678ff66a82f50fd83295c9e697b"): Calibration(
        answer=AnswerWeights(
            constant=-19.47,
            coverage=1.202,
            missing=-0.8136,
            words=-0.1027,
            fused=0.3179,
            size=-0.5315,
            turns=-1.074,
            cosine=30.88,
            mean=0.7832,
            deviation=3.172,
        ),
        hit=HitWeights(constant=0.6848, rank=-1.696, fused=0.0933, behind=-0.7327),
        floor=0.1,
    ),
    (
        "local",
        "recollectum-embed-quick",
        "4ebc284fe99f8dae4a4e881a4902d6101c8dcf471e1c7397b6564358197d3c40",
    ): Calibration(
        answer=AnswerWeights(
            constant=-25.52,
            coverage=0.9413,
            missing=-1.305,
            words=-0.1113,
            fused=0.6241,
            size=-0.5519,
            turns=-1.13,
            cosine=30.48,
            mean=6.975,
            deviation=15.12,
        ),
        hit=HitWeights(constant=0.5049, rank=-1.677, fused=0.1175, behind=-0.8646),
        floor=0.12,
    ),
    ("local", "gte-small", "499e6a7a71f84964c95c3621a2ced3b14244b18005cd892894a83511085af6f9"): Calibration(
        answer=AnswerWeights(
            constant=-30.74,
            coverage=2.326,
            missing=-2.001,
            words=-0.0417,
            fused=0.2891,
            size=-0.5411,
            turns=-0.9888,
            cosine=35.9,
            mean=1.038,
            deviation=82.26,
        ),
        hit=HitWeights(constant=0.5194, rank=-1.558, fused=0.0914, behind=-0.6916),
        floor=0.04,
    ),
    None: Calibration(
        answer=AnswerWeights(
            constant=1.801, coverage=9.618, missing=-1.997, words=0.0903, fused=0.907, size=-0.9032, turns=-0.5752
        ),
        hit=HitWeights(constant=1.063, rank=-1.767, fused=-0.0709, behind=-1.009),
        floor=0.05,
    ),
}


def find_calibration(model: str | None) -> Calibration | None:
    """Return what was measured for an embedder, given its identity as text, or for words alone; None for others."""
    if model is None:
        return CALIBRATIONS.get(None)
    identity = _identity(model)
    return CALIBRATIONS.get((identity.provider, identity.model, identity.digest)) if identity else None


@lru_cache(maxsize=8)
def _identity(model: str) -> EmbedderIdentity | None:
    """Return the identity in a text; every question of a vault has the same."""
    return EmbedderIdentity.from_text_key(model)
