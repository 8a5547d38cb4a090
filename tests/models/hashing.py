"""An embedder whose vectors follow from a digest of the text, which counts its calls and fails when told to."""

from collections.abc import Iterable, Sequence
from hashlib import shake_256
from threading import Lock

import numpy as np

from recollectum.domain.errors import ModelError
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.port import Vectors
from recollectum.models.embedding.vectors import to_unit_length


def identity(*, model: str = "hashing", dimensions: int = 8) -> EmbedderIdentity:
    return EmbedderIdentity(
        provider="test", model=model, digest="", dimensions=dimensions, form="plain", provider_key=""
    )


class HashingEmbedder:
    """Equal texts have equal vectors, in any batch."""

    max_tokens = 512

    def __init__(self, failures: Iterable[ModelError] = (), *, who: EmbedderIdentity | None = None) -> None:
        self.identity = who or identity()
        self.dimensions = self.identity.dimensions or 8
        self.calls: list[list[str]] = []
        self.closed = False
        self._failures = iter(failures)
        self._lock = Lock()

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        with self._lock:
            self.calls.append(list(texts))
            failure = next(self._failures, None)
        if failure is not None:
            raise failure
        rows = [self._row(text, purpose) for text in texts]
        return to_unit_length(np.array(rows, np.float32).reshape(len(texts), self.dimensions))

    def close(self) -> None:
        self.closed = True

    def _row(self, text: str, purpose: Purpose) -> list[float]:
        data = shake_256(f"{purpose}:{text}".encode("utf-8", "surrogatepass")).digest(self.dimensions)
        return [byte - 127.5 for byte in data]
