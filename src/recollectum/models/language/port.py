"""LanguageModel: the protocol of what answers a prompt, whole or as a stream."""

from collections.abc import Iterator
from typing import Protocol

from recollectum.domain.models.language_model import ModelIdentity, Piece, Prompt, Reply


class LanguageModel(Protocol):
    """Answers prompts. Safe to use from several threads; an event loop calls it in a thread of its own."""

    @property
    def identity(self) -> ModelIdentity:
        """Which model answers; it is known without a call."""
        ...

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply, or a ModelError that says why there is none."""
        ...

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The reply as it comes in; nothing is asked before the first piece is taken."""
        ...

    def close(self) -> None:
        """Give back memory and connections; a later call takes them again."""
        ...
