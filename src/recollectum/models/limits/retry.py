"""Repeats calls of embedders and language models that failed for a passing reason, with exponential backoff."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.errors import ModelTimeout, ModelUnavailable
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.domain.models.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.models.embedding.port import Embedder
from recollectum.models.language.port import LanguageModel

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Vectors

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often to ask, and how long to wait in between."""

    attempts: int = 5
    #: The first pause; each later one may be twice as long as the one before.
    first_seconds: float = 0.25
    longest_seconds: float = 8.0
    #: After so long since the first attempt began, no other begins.
    total_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class RetryClock:
    """What time is measured and spent with; a test brings its own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    #: A number from 0 to 1.
    chance: Callable[[], float] = random.random


class RetryingEmbedder:
    """Repeats a call that failed for want of time or room, and passes every other error on at once."""

    def __init__(
        self, inner: Embedder, *, passages: RetryPolicy, queries: RetryPolicy, pauses: RetryClock | None = None
    ) -> None:
        self.inner = inner
        # Somebody waits for a query, and nobody for a passage.
        self._patience = {Purpose.PASSAGE: passages, Purpose.QUERY: queries}
        self._pauses = pauses or RetryClock()

    @property
    def identity(self) -> EmbedderIdentity:
        """The inner one's."""
        return self.inner.identity

    @property
    def max_tokens(self) -> int:
        """The inner one's."""
        return self.inner.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "Vectors":
        """One row for each text, in order."""
        return call_with_retries(lambda: self.inner.embed(texts, purpose), self._patience[purpose], self._pauses)

    def close(self) -> None:
        """Close the inner one."""
        self.inner.close()


def call_with_retries(call: Callable[[], T], patience: RetryPolicy, pauses: RetryClock) -> T:
    """What the call returns at last, or the error of its last attempt."""
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
    """How long to wait after an attempt: what the server asked for, or between half and all of a growing pause."""
    # By chance, because many who failed together would otherwise come back together.
    grown = min(patience.longest_seconds, patience.first_seconds * 2.0 ** min(attempt - 1, 60))
    wait = grown * (0.5 + chance / 2)
    asked = error.retry_after_seconds if isinstance(error, ModelUnavailable) else None
    return wait if asked is None else max(wait, asked)


class RetryingModel:
    """Repeats a call that failed for want of time or room, and passes every other error on at once."""

    def __init__(self, inner: LanguageModel, patience: RetryPolicy, pauses: RetryClock | None = None) -> None:
        self.inner = inner
        self._patience = patience
        self._pauses = pauses or RetryClock()

    @property
    def identity(self) -> ModelIdentity:
        """The inner one's."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply."""
        return call_with_retries(lambda: self.inner.complete(prompt), self._patience, self._pauses)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The reply as it comes in; once a piece is handed out, nothing is asked again."""

        def begin() -> tuple[list[Piece], Iterator[Piece]]:
            pieces = iter(self.inner.stream(prompt))
            return [one for one in (next(pieces, None),) if one], pieces

        first, rest = call_with_retries(begin, self._patience, self._pauses)
        yield from first
        yield from rest

    def close(self) -> None:
        """Close the inner one."""
        self.inner.close()
