"""RemoteReranker: a cross-encoder behind the `/rerank` endpoint of Cohere, Jina, vLLM or llama.cpp."""

import math
from collections.abc import Mapping, Sequence
from typing import cast

from recollectum.domain.errors import ModelRefused
from recollectum.domain.models.language_model import ModelIdentity
from recollectum.models.embedding.inputs import fit_text, weigh_text
from recollectum.models.http.client import JsonClient
from recollectum.models.limits.retry import RetryClock, RetryPolicy, call_with_retries

_PATH = "/rerank"
#: The tokens that any cross-encoder reads of a question and a text together, and the most of them for the question.
_PAIR_TOKENS = 512
_QUERY_TOKENS = 192
#: The special tokens that a model puts around the two.
_MARKS = 4
#: Larger than any model's score; the square of a much larger number would overflow.
_MOST = 1e30


class RemoteReranker:
    """Requests scores from an endpoint, once for each call, and once more after a transient failure."""

    def __init__(
        self,
        identity: ModelIdentity,
        wire: JsonClient,
        patience: RetryPolicy | None = None,
        pauses: RetryClock | None = None,
    ) -> None:
        self._identity = identity
        self._wire = wire
        self._patience = patience or RetryPolicy(attempts=2)
        self._pauses = pauses or RetryClock()

    @property
    def identity(self) -> ModelIdentity:
        """Return the identity of the model."""
        return self._identity

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the endpoint's score of each text, in order."""
        if not texts:
            return []
        left = _PAIR_TOKENS - _MARKS - weigh_text(query, _QUERY_TOKENS)
        body = {
            "model": self._identity.model,
            "query": fit_text(query, _QUERY_TOKENS),
            "documents": [fit_text(text, left) for text in texts],
        }
        answer = call_with_retries(lambda: self._wire.post(_PATH, body), self._patience, self._pauses)
        found = _in_order(answer, len(texts))
        if found is None:
            raise ModelRefused(
                f"{self._wire.endpoint.name} did not answer with a score for each text; check rerank.base_url"
            )
        return found

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._wire.close()


def _in_order(answer: object, count: int) -> list[float] | None:
    """Return the scores by index; None unless each text has exactly one, which is a number."""
    try:
        results = cast("Mapping[str, Sequence[Mapping[str, object]]]", answer)["results"]
        by_place = {cast("int", one["index"]): _number(one["relevance_score"]) for one in results}
        if len(results) != count or by_place.keys() != set(range(count)):
            return None
    except (KeyError, TypeError, AttributeError, OverflowError):
        return None
    found = [by_place[place] for place in range(count)]
    return found if all(math.isfinite(one) and abs(one) < _MOST for one in found) else None


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)
