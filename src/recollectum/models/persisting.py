"""PersistentModel: asks again when the trouble may pass, as embedders do."""

from collections.abc import Iterator

from recollectum.domain.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.models.language import LanguageModel
from recollectum.models.retrying import Patience, Pauses, persist


class PersistentModel:
    """Repeats a call that failed for want of time or room, and passes every other error on at once."""

    def __init__(self, inner: LanguageModel, patience: Patience, pauses: Pauses | None = None) -> None:
        self.inner = inner
        self._patience = patience
        self._pauses = pauses or Pauses()

    @property
    def identity(self) -> ModelIdentity:
        """The inner one's."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply."""
        return persist(lambda: self.inner.complete(prompt), self._patience, self._pauses)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The reply as it comes in; once a piece is handed out, nothing is asked again."""

        def begin() -> tuple[list[Piece], Iterator[Piece]]:
            pieces = iter(self.inner.stream(prompt))
            return [one for one in (next(pieces, None),) if one], pieces

        first, rest = persist(begin, self._patience, self._pauses)
        yield from first
        yield from rest

    def close(self) -> None:
        """Close the inner one."""
        self.inner.close()
