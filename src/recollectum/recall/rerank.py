"""Opens the reranker of the settings, and mixes a cross-encoder's scores into the head of a ranking."""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

from recollectum.domain.errors import ModelError, SettingsError
from recollectum.domain.records import dataclass
from recollectum.recall.scoring import FusedScore
from recollectum.settings.model import RerankSettings

if TYPE_CHECKING:
    from recollectum.models.rerank.port import Reranker

#: The model's share in the final score.
MODEL_SHARE: Final = 0.5
_ROUNDING: Final = 1e-9


def open_reranker(way: str, settings: RerankSettings, environ: Mapping[str, str]) -> "Reranker | None":
    """Return the reranker that `recall.rerank` names, or None if it is off."""
    # Import here, with the HTTP client: a program that reranks nothing does not pay for it.
    from recollectum.models.registry import rerank  # noqa: PLC0415

    return rerank.open_reranker(way, settings, environ)


class Rerankers:
    """The reranker of the settings, opened on first use and shared by all vaults."""

    def __init__(
        self,
        way: str,
        settings: RerankSettings,
        environ: Mapping[str, str],
        given: "Reranker | None" = None,
        opens: "Callable[[str, RerankSettings, Mapping[str, str]], Reranker | None]" = open_reranker,
    ) -> None:
        #: Used in place of the one that the settings name; the caller that passed it closes it.
        self._given = given
        self._opens = opens
        self._way = way
        self._settings = settings
        self._environ = environ
        self._lock = threading.Lock()
        self._opened = False
        self._reranker: Reranker | None = None
        self._why: str | None = None

    def get(self) -> "tuple[Reranker | None, str | None]":
        """Return the reranker, or None and the reason if one is configured."""
        if self._given or self._way == "off":
            return self._given, None
        with self._lock:
            if not self._opened:
                self._open()
            return self._reranker, self._why

    def close(self) -> None:
        """Close the reranker."""
        with self._lock:
            if self._reranker:
                self._reranker.close()

    def _open(self) -> None:
        try:
            self._reranker = self._opens(self._way, self._settings, self._environ)
        except (ModelError, SettingsError) as error:
            self._why = str(error)
        self._opened = True


@dataclass(frozen=True, slots=True)
class RerankScores:
    """The length of the head that a model scores, and the score of each text once it is known."""

    head: int
    scores: Mapping[str, float] = field(default_factory=dict[str, float])

    def rank(self, ranked: list[FusedScore], texts: Sequence[str]) -> list[FusedScore]:
        """Return the ranking with the known scores applied; `texts` are those of its head.

        Without scores, return it unchanged.
        """
        head = zip(ranked, texts, strict=False)
        known = {one.number: self.scores[text] for one, text in head if text in self.scores}
        return mix_scores(ranked, known) if known else ranked


def mix_scores(ranked: list[FusedScore], scores: Mapping[int, float]) -> list[FusedScore]:
    """Mix each score half with the model's, scaled to the mean and deviation of the scores that it replaces."""
    middle, spread = _mean_and_deviation(list(scores.values()))
    if not spread:
        return ranked
    mean, width = _mean_and_deviation([one.score for one in ranked if one.number in scores])
    # If all scores were equal, the model alone decides, in the unit of all scores.
    width = width or 1.0
    moved: list[FusedScore] = []
    for one in ranked:
        score = scores.get(one.number)
        delta = MODEL_SHARE * (mean + width * (score - middle) / spread - one.score) if score is not None else 0.0
        added = (*one.added, ("rerank", delta))
        moved.append(one._replace(score=one.score + delta, added=added) if delta else one)
    return sorted(moved, key=lambda one: (-one.score, -one.number))


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    """Return the mean and the deviation of the values; 0 if they differ by rounding only."""
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / len(values))
    return mean, spread if spread > _ROUNDING * max(1.0, abs(mean)) else 0.0
