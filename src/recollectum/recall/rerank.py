"""Reranks the head of an answer with a model, outside any transaction.

No transaction waits for a model. The question is answered once, the model judges the head of that answer, and the
question is answered again, in a snapshot of its own, with what the model said. Where it says nothing, the first answer
stands, with the reason.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from recollectum.domain.errors import ModelError, SettingsError
from recollectum.domain.hit import RecallResult
from recollectum.recall.scoring import FusedScore
from recollectum.settings.model import RerankSettings

if TYPE_CHECKING:
    from recollectum.models.rerank.port import Reranker

#: The model's share in the score of what it has judged.
MODEL_SHARE: Final = 0.5
_ROUNDING: Final = 1e-9


def open_reranker(way: str, settings: RerankSettings, environ: Mapping[str, str]) -> "Reranker | None":
    """The reranker for what `recall.rerank` says, or None where there is to be none."""
    # With what it needs of HTTP: a program that reranks nothing does not pay for it.
    from recollectum.models.registry import rerank  # noqa: PLC0415

    return rerank.open_reranker(way, settings, environ)


class Rerankers:
    """The reranker of the settings, opened when it is first asked for and shared by all vaults."""

    def __init__(self, way: str, settings: RerankSettings, environ: Mapping[str, str]) -> None:
        self._way = way
        self._settings = settings
        self._environ = environ
        self._lock = threading.Lock()
        self._opened = False
        self._reranker: Reranker | None = None
        self._why: str | None = None

    def get(self) -> "tuple[Reranker | None, str | None]":
        """The reranker, or None and the reason, where there should be one."""
        if self._way == "off":
            return None, None
        with self._lock:
            if not self._opened:
                self._open()
            return self._reranker, self._why

    def close(self) -> None:
        """Give back what the reranker holds."""
        with self._lock:
            if self._reranker:
                self._reranker.close()

    def _open(self) -> None:
        try:
            self._reranker = open_reranker(self._way, self._settings, self._environ)
        except (ModelError, SettingsError) as error:
            self._why = str(error)
        self._opened = True


class RerankScores:
    """The head of one answer: its texts, and once a model has seen them what it thinks of each."""

    def __init__(self, head: int, scores: Mapping[str, float] | None = None) -> None:
        self.head = head
        #: The texts of the last ranking that was put before it.
        self.texts: tuple[str, ...] = ()
        self._scores = scores or {}

    def rank(self, ranked: list[FusedScore], texts: Sequence[str]) -> list[FusedScore]:
        """The ranking with the scores that are known; `texts` are those of its head. Without any it stays as it is."""
        self.texts = tuple(dict.fromkeys(texts))
        head = zip(ranked, texts, strict=False)
        known = {one.number: self._scores[text] for one, text in head if text in self._scores}
        return mix_scores(ranked, known) if known else ranked


def mix_scores(ranked: list[FusedScore], scores: Mapping[int, float]) -> list[FusedScore]:
    """Half of each score from the model, brought to the mean and the spread of the scores it takes the place of."""
    middle, spread = _mean_and_deviation(list(scores.values()))
    if not spread:
        return ranked
    mean, width = _mean_and_deviation([one.score for one in ranked if one.number in scores])
    # Where everything was even, the model alone decides, in the unit of all scores.
    width = width or 1.0
    moved: list[FusedScore] = []
    for one in ranked:
        score = scores.get(one.number)
        delta = MODEL_SHARE * (mean + width * (score - middle) / spread - one.score) if score is not None else 0.0
        added = (*one.added, ("rerank", delta))
        moved.append(one._replace(score=one.score + delta, added=added) if delta else one)
    return sorted(moved, key=lambda one: (-one.score, -one.number))


def search_with_rerank(
    answer: Callable[[RerankScores | None], RecallResult], query: str, rerankers: Rerankers | None, head: int
) -> RecallResult:
    """The answer with its head judged by the model; the first one, and why, where the model does not answer."""
    reranker, why = rerankers.get() if rerankers else (None, None)
    if reranker is None or not query.strip():
        return _with_missing_model(answer(None), why)
    first = RerankScores(head)
    found = answer(first)
    if len(first.texts) < 2:
        return found
    try:
        scores = reranker.scores(query, first.texts)
    except ModelError as error:
        return _with_missing_model(found, str(error))
    return answer(RerankScores(head, dict(zip(first.texts, scores, strict=True))))


def _with_missing_model(found: RecallResult, why: str | None) -> RecallResult:
    return RecallResult(found, found.rung, found.degraded or why, held_back=found.held_back)


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    """The mean of the values and their spread, which is 0 where they differ by rounding alone."""
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / len(values))
    return mean, spread if spread > _ROUNDING * max(1.0, abs(mean)) else 0.0
