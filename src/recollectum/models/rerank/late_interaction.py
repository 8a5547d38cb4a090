"""MaxSim: late interaction (ColBERT) over the embedder's own token vectors, without another model."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from recollectum.domain.errors import ModelTimeout
from recollectum.domain.models.embedder import Purpose
from recollectum.domain.models.language_model import ModelIdentity
from recollectum.models.embedding.port import LateInteraction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: One row of bytes for each token of a text.
Tokens: TypeAlias = "NDArray[np.int8]"

CACHE_BYTES = 32 * 1024 * 1024
#: Texts that are read between two looks at the clock.
_TOGETHER = 4
_ONE = 127


class LatestTokens:
    """Token vectors by the digest of their text, in memory alone: so many bytes, the least recently used out first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._kept: OrderedDict[bytes, Tokens] = OrderedDict()
        self._lock = Lock()

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return self._size

    def get(self, text: str) -> "Tokens | None":
        """What is kept of a text, which makes it the most recent."""
        with self._lock:
            found = self._kept.get(_digest(text))
            if found is not None:
                self._kept.move_to_end(_digest(text))
            return found

    def put(self, text: str, tokens: "Tokens") -> None:
        """Keep these, and let the least recent go."""
        with self._lock:
            before = self._kept.pop(_digest(text), None)
            self._size -= 0 if before is None else before.nbytes
            self._kept[_digest(text)] = tokens
            self._size += tokens.nbytes
            while self._size > self._most:
                _, gone = self._kept.popitem(last=False)
                self._size -= gone.nbytes

    def clear(self) -> None:
        """Let everything go."""
        with self._lock:
            self._kept.clear()
            self._size = 0


class MaxSim:
    """For each token of the question the nearest one of the text; the score is the mean of these cosines.

    A text's vectors are rounded to bytes before they are first used, so that its score is the same whether they were
    kept or computed. What was computed before the time was up is kept, and need not be computed again.
    """

    def __init__(
        self,
        model: LateInteraction,
        name: str,
        *,
        timeout_seconds: float,
        cache_bytes: int = CACHE_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._name = name
        self._timeout = timeout_seconds
        self._clock = clock
        self._kept = LatestTokens(cache_bytes)

    @property
    def identity(self) -> ModelIdentity:
        """The embedder, by its name."""
        return ModelIdentity(provider="late", model=self._name)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The mean of maxima for each text; 0 where there is no token to compare."""
        if not texts:
            return []
        ends = self._clock() + self._timeout
        (asked,) = self._model.token_vectors([query], Purpose.QUERY)
        tokens = self._tokens(texts, ends)
        return [_likeness(asked, tokens[text]) for text in texts]

    def close(self) -> None:
        """Let the vectors of texts go; the embedder is its owner's to close."""
        self._kept.clear()

    def _tokens(self, texts: Sequence[str], ends: float) -> "dict[str, Tokens]":
        found = {text: self._kept.get(text) for text in texts}
        missing = [text for text, tokens in found.items() if tokens is None]
        for start in range(0, len(missing), _TOGETHER):
            if start and self._clock() >= ends:
                raise ModelTimeout(
                    f"the head of the list was not compared token by token within {self._timeout:g} s; "
                    "lower recall.rerank_head, or raise rerank.timeout_seconds"
                )
            part = missing[start : start + _TOGETHER]
            for text, rows in zip(part, self._model.token_vectors(part, Purpose.PASSAGE), strict=True):
                found[text] = tokens = _to_bytes(rows)
                self._kept.put(text, tokens)
        return {text: tokens for text, tokens in found.items() if tokens is not None}


def _to_bytes(rows: "NDArray[np.float32]") -> "Tokens":
    import numpy as np  # noqa: PLC0415 - heavy, and only where there are vectors

    return np.rint(rows * _ONE).astype(np.int8)


def _likeness(asked: "NDArray[np.float32]", tokens: "Tokens") -> float:
    import numpy as np  # noqa: PLC0415 - see _to_bytes

    if not len(asked) or not len(tokens):
        return 0.0
    cosines = asked @ tokens.astype(np.float32).T
    return float(cosines.max(axis=1).mean(dtype=np.float64)) / _ONE


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()
