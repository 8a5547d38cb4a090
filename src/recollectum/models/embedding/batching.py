"""BatchingEmbedder: splits many texts into calls of bounded size, a few of them in parallel."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.inputs import weigh_text
from recollectum.models.embedding.port import Embedder

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Vectors


class BatchingEmbedder:
    """Splits a call into batches. Either all of them succeed, or the first failure is raised."""

    def __init__(self, inner: Embedder, *, texts: int, tokens: int, concurrency: int) -> None:
        self.inner = inner
        self._texts = texts
        self._tokens = tokens
        self._concurrency = concurrency

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the identity of the inner embedder."""
        return self.inner.identity

    @property
    def max_tokens(self) -> int:
        """Return the limit of the inner embedder."""
        return self.inner.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "Vectors":
        """Return one row for each text, in order."""
        parts = list(batches(texts, self._texts, self._tokens, self.max_tokens))
        if len(parts) < 2:
            return self.inner.embed(texts, purpose)
        return self._together(parts, purpose)

    def close(self) -> None:
        """Close the inner embedder."""
        self.inner.close()

    def _together(self, parts: Sequence[Sequence[str]], purpose: Purpose) -> "Vectors":
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - most calls are one batch

        import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

        with ThreadPoolExecutor(min(self._concurrency, len(parts)), "embedding") as pool:
            waiting = [pool.submit(self.inner.embed, part, purpose) for part in parts]
            try:
                return np.concatenate([one.result() for one in waiting])
            finally:
                # After a failure, cancel the batches that have not begun: they would cost money for nothing.
                pool.shutdown(wait=False, cancel_futures=True)


def batches(texts: Sequence[str], most: int, tokens: int, max_tokens: int) -> Iterator[Sequence[str]]:
    """Yield the texts in order, in batches of at most `most` texts and about `tokens` tokens.

    A batch has at least one text.
    """
    run: list[str] = []
    tokens_so_far = 0
    for text in texts:
        cost = weigh_text(text, max_tokens)
        if run and (len(run) == most or tokens_so_far + cost > tokens):
            yield run
            run, tokens_so_far = [], 0
        run.append(text)
        tokens_so_far += cost
    if run:
        yield run
