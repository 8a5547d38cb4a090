"""LimitedModel: only so many calls of one model run at once."""

from collections.abc import Iterator
from threading import BoundedSemaphore

from recollectum.domain.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.models.language import LanguageModel


class LimitedModel:
    """Lets a call wait until there is room for it."""

    def __init__(self, inner: LanguageModel, concurrency: int) -> None:
        self.inner = inner
        self._room = BoundedSemaphore(concurrency)

    @property
    def identity(self) -> ModelIdentity:
        """The inner one's."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply."""
        with self._room:
            return self.inner.complete(prompt)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The reply as it comes in; it takes up room until it is read to its end or closed."""
        with self._room:
            yield from self.inner.stream(prompt)

    def close(self) -> None:
        """Close the inner one."""
        self.inner.close()
