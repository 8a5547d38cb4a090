"""Retries calls of embedders and language models after transient failures, with exponential backoff."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.errors import ModelTimeout, ModelUnavailable
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.domain.models.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.domain.records import dataclass
from recollectum.models.embedding.port import Embedder
from recollectum.models.language.port import LanguageModel

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Vectors

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The number of attempts, and the pauses between them."""

    attempts: int = 5
    #: The first pause; each later one may be twice as long as the one before.
    first_seconds: float = 0.25
    longest_seconds: float = 8.0
    #: After this time since the first attempt began, no other attempt begins.
    total_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class RetryClock:
    """The clock and the sleep function; a test passes its own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    #: A random number from 0 to 1.
    chance: Callable[[], float] = random.random


class RetryingEmbedder:
    """Retries a call that failed with a timeout or an overload, and raises every other error at once."""

    def __init__(
        self, inner: Embedder, *, passages: RetryPolicy, queries: RetryPolicy, pauses: RetryClock | None = None
    ) -> None:
        self.inner = inner
        # A person waits for a query, but not for a passage.
        self._patience = {Purpose.PASSAGE: passages, Purpose.QUERY: queries}
        self._pauses = pauses or RetryClock()

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
        return call_with_retries(lambda: self.inner.embed(texts, purpose), self._patience[purpose], self._pauses)

    def close(self) -> None:
        """Close the inner embedder."""
        self.inner.close()


def call_with_retries(call: Callable[[], T], patience: RetryPolicy, pauses: RetryClock) -> T:
    """Return the result of the call, or raise the error of its last attempt."""
    ends = pauses.clock() + patience.total_seconds
    for attempt in range(1, patience.attempts):
        try:
            return call()
        except (ModelTimeout, ModelUnavailable) as error:
            wait = backoff_seconds(patience, attempt, error, pauses.chance())
            if pauses.clock() + wait >= ends:
                raise
        pauses.sleep(wait)
    return call()


def backoff_seconds(
    patience: RetryPolicy, attempt: int, error: ModelTimeout | ModelUnavailable, chance: float
) -> float:
    """Return the pause after an attempt: the server's, or a random one from half to all of a growing pause."""
    # Random, because callers that failed together would otherwise come back together.
    grown = min(patience.longest_seconds, patience.first_seconds * 2.0 ** min(attempt - 1, 60))
    wait = grown * (0.5 + chance / 2)
    asked = error.retry_after_seconds if isinstance(error, ModelUnavailable) else None
    return wait if asked is None else max(wait, asked)


class RetryingModel:
    """Retries a call that failed with a timeout or an overload, and raises every other error at once."""

    def __init__(self, inner: LanguageModel, patience: RetryPolicy, pauses: RetryClock | None = None) -> None:
        self.inner = inner
        self._patience = patience
        self._pauses = pauses or RetryClock()

    @property
    def identity(self) -> ModelIdentity:
        """Return the identity of the inner model."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """Return the complete reply."""
        return call_with_retries(lambda: self.inner.complete(prompt), self._patience, self._pauses)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it arrives; after the first piece, the call is not retried."""

        def begin() -> tuple[list[Piece], Iterator[Piece]]:
            pieces = iter(self.inner.stream(prompt))
            return [one for one in (next(pieces, None),) if one], pieces

        first, rest = call_with_retries(begin, self._patience, self._pauses)
        yield from first
        yield from rest

    def close(self) -> None:
        """Close the inner model."""
        self.inner.close()
