"""Fits the weights of a calibration by logistic regression, and measures how true its chances are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollectum.domain.hit import AnswerEvidence
from recollectum.recall.calibration import AnswerWeights, Calibration, HitWeights, log_size

Floats: TypeAlias = NDArray[np.float64]
OWN, UNANSWERED = "own", "unanswered"
#: How much of R@10 the floor may cost, as the mean of the sets.
MAX_LOSS = 0.01
_FOLDS = 5
_RIDGE = 0.3
_FIELDS = ("coverage", "missing", "words", "fused", "size", "turns", "cosine", "mean", "deviation")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """One question that was put to one vault, and its hits."""

    set: str
    space: str
    #: `own` when the vault has the answer; else where the foreign question comes from.
    kind: str
    evidence: AnswerEvidence | None
    #: The fused score of each hit, best first, and how many of the gold units it is.
    fused: tuple[float, ...]
    gold: tuple[int, ...]
    #: How many gold units there are.
    golds: int

    @property
    def recall(self) -> float:
        """The share of the gold units among the hits."""
        return sum(self.gold) / self.golds if self.golds else 0.0


def fit(asked: Sequence[AskedQuestion]) -> Calibration:
    """Return the calibration that fits some questions best; each set and each side of it weighs the same."""
    known = [one for one in asked if one.evidence and one.kind != UNANSWERED]
    answered = np.array([one.kind == OWN and any(one.gold) for one in known], float)
    weights = _weights(known, lambda one: (one.set, one.kind == OWN))
    evidence = np.array([_row(one.evidence) for one in known if one.evidence])
    answer = AnswerWeights(*_logistic(evidence, answered, weights))
    own = [one for one in known if one.kind == OWN and any(one.gold)]
    rows = [
        (np.log1p(rank), score, one.evidence.fused - score if one.evidence else 0.0)
        for one in own
        for rank, score in enumerate(one.fused)
    ]
    relevant = np.array([bool(gold) for one in own for gold in one.gold], float)
    each = np.repeat(_weights(own, lambda one: one.set), [len(one.fused) for one in own])
    hit = HitWeights(*_logistic(np.array(rows), relevant, each))
    made = Calibration(answer=answer, hit=hit, floor=0.0)
    return replace(made, floor=_highest_floor(made, asked))


def cross_validated(asked: Sequence[AskedQuestion]) -> list[tuple[AskedQuestion, list[float]]]:
    """Return each question with the chances of its hits, by weights fitted without the questions of its vault.

    A set that is one vault is divided by its questions instead.
    """
    spaces: dict[str, list[str]] = {}
    for one in asked:
        if one.space not in (known := spaces.setdefault(one.set, [])):
            known.append(one.space)
    folds: list[list[AskedQuestion]] = [[] for _ in range(_FOLDS)]
    for place, one in enumerate(asked):
        known = spaces[one.set]
        folds[(known.index(one.space) if len(known) >= _FOLDS else place) % _FOLDS].append(one)
    found: list[tuple[AskedQuestion, list[float]]] = []
    for fold in folds:
        held = set(map(id, fold))
        rest = [one for one in asked if id(one) not in held]
        if fold and any(one.kind == OWN for one in rest):
            made = fit(rest)
            found += [(one, chances(made, one)) for one in fold]
    return found


def chances(calibration: Calibration, one: AskedQuestion) -> list[float]:
    """Return the chance of each hit."""
    return calibration.chances(one.evidence, one.fused) if one.evidence else []


def lost(found: Sequence[tuple[AskedQuestion, list[float]]], floor: float) -> float:
    """Return how much of R@10 is lost where the best hit is below a floor."""
    own = [(one, scores) for one, scores in found if one.kind == OWN]
    return sum(one.recall for one, scores in own if scores and scores[0] < floor) / max(1, len(own))


def silent(found: Sequence[tuple[AskedQuestion, list[float]]], floor: float) -> float:
    """Return the share of questions that get nothing."""
    return sum(not scores or scores[0] < floor for _, scores in found) / max(1, len(found))


def reliability(found: Sequence[tuple[AskedQuestion, list[float]]]) -> list[tuple[int, float, float]]:
    """Return for each tenth of the scale: the number of hits, their mean chance, and the share that is relevant.

    Own and foreign questions weigh the same in sum, as half of all questions were foreign.
    """
    own = sum(one.kind == OWN for one, _ in found)
    foreign = max(1, len(found) - own)
    bins: list[list[tuple[float, float, float]]] = [[] for _ in range(10)]
    for one, scores in found:
        weight = 1.0 if one.kind == OWN else own / foreign
        for score, gold in zip(scores, one.gold, strict=True):
            bins[min(9, int(score * 10))].append((weight, score, float(bool(gold))))
    table: list[tuple[int, float, float]] = []
    for held in bins:
        total = sum(weight for weight, _, _ in held)
        if total:
            mean = sum(weight * score for weight, score, _ in held) / total
            true = sum(weight * gold for weight, _, gold in held) / total
            table.append((len(held), mean, true))
        else:
            table.append((0, 0.0, 0.0))
    return table


def area(found: Sequence[tuple[AskedQuestion, list[float]]]) -> float:
    """Return the area under the ROC curve of the best hit's chance: answered questions against foreign ones."""
    best = np.array([scores[0] if scores else 0.0 for _, scores in found])
    own = np.array([one.kind == OWN for one, _ in found])
    order = np.argsort(np.argsort(best, kind="stable"), kind="stable") + 1.0
    positives, negatives = int(own.sum()), int((~own).sum())
    if not positives or not negatives:
        return float("nan")
    return float((order[own].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def _highest_floor(made: Calibration, asked: Sequence[AskedQuestion]) -> float:
    """Return the highest floor, in steps of 0.005, that loses at most `MAX_LOSS` of R@10 in the mean of the sets."""
    by_set: dict[str, list[tuple[AskedQuestion, list[float]]]] = {}
    for one in asked:
        if one.kind == OWN:
            by_set.setdefault(one.set, []).append((one, chances(made, one)))

    def loss(floor: float) -> float:
        return sum(lost(found, floor) for found in by_set.values()) / max(1, len(by_set))

    return max((step / 200 for step in range(101) if loss(step / 200) <= MAX_LOSS), default=0.0)


def _row(evidence: AnswerEvidence) -> list[float]:
    """Return the evidence in the order of the weights."""
    return [log_size(evidence) if name == "size" else getattr(evidence, name) for name in _FIELDS]


def _weights(asked: Sequence[AskedQuestion], group: Callable[[AskedQuestion], object]) -> Floats:
    """Return a weight for each question, so that each group weighs 500 in sum."""
    groups = [group(one) for one in asked]
    count = {name: groups.count(name) for name in set(groups)}
    return np.array([500 / count[name] for name in groups])


def _logistic(rows: Floats, labels: Floats, weights: Floats) -> list[float]:
    """Return the constant and a coefficient for each column, by Newton's method with a small ridge penalty."""
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    used = deviation > 1e-9
    scaled = np.where(used, (rows - mean) / np.where(used, deviation, 1.0), 0.0)
    design = np.column_stack([np.ones(len(rows)), scaled])
    penalty = np.full(design.shape[1], _RIDGE)
    penalty[0] = 0.0
    found = np.zeros(design.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (weights * (chance - labels)) + penalty * found
        curve = (design * (weights * chance * (1 - chance))[:, None]).T @ design + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curve, slope)
        found = found - step
        if np.abs(step).max() < 1e-9:
            break
    slopes = np.where(used, found[1:] / np.where(used, deviation, 1.0), 0.0)
    return [float(found[0] - slopes @ mean), *map(float, slopes)]
