"""RetryingEmbedder: asks again when the trouble may pass, a few times and not for long."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.embedder import EmbedderIdentity, Purpose
from recollectum.domain.errors import ModelTimeout, ModelUnavailable
from recollectum.models.port import Embedder

if TYPE_CHECKING:
    from recollectum.models.port import Vectors

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often to ask, and how long to wait in between."""

    attempts: int = 5
    #: The first pause; each later one may be twice as long as the one before.
    first_seconds: float = 0.25
    longest_seconds: float = 8.0
    #: After so long since the first attempt began, no other begins.
    total_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Pauses:
    """What time is measured and spent with; a test brings its own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    #: A number from 0 to 1.
    chance: Callable[[], float] = random.random


class RetryingEmbedder:
    """Repeats a call that failed for want of time or room, and passes every other error on at once."""

    def __init__(self, inner: Embedder, *, passages: Patience, queries: Patience, pauses: Pauses | None = None) -> None:
        self.inner = inner
        # Somebody waits for a query, and nobody for a passage.
        self._patience = {Purpose.PASSAGE: passages, Purpose.QUERY: queries}
        self._pauses = pauses or Pauses()

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
        return persist(lambda: self.inner.embed(texts, purpose), self._patience[purpose], self._pauses)

    def close(self) -> None:
        """Close the inner one."""
        self.inner.close()


def persist(call: Callable[[], T], patience: Patience, pauses: Pauses) -> T:
    """What the call returns at last, or the error of its last attempt."""
    ends = pauses.clock() + patience.total_seconds
    for attempt in range(1, patience.attempts):
        try:
            return call()
        except (ModelTimeout, ModelUnavailable) as error:
            wait = pause(patience, attempt, error, pauses.chance())
            if pauses.clock() + wait >= ends:
                raise
        pauses.sleep(wait)
    return call()


def pause(patience: Patience, attempt: int, error: ModelTimeout | ModelUnavailable, chance: float) -> float:
    """How long to wait after an attempt: what the server asked for, or between half and all of a growing pause."""
    # By chance, because many who failed together would otherwise come back together.
    grown = min(patience.longest_seconds, patience.first_seconds * 2.0 ** min(attempt - 1, 60))
    wait = grown * (0.5 + chance / 2)
    asked = error.retry_after_seconds if isinstance(error, ModelUnavailable) else None
    return wait if asked is None else max(wait, asked)
