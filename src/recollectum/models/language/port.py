"""LanguageModel: the protocol of an object that answers a prompt, whole or as a stream."""

from collections.abc import Iterator
from typing import Protocol

from recollectum.domain.models.language_model import ModelIdentity, Piece, Prompt, Reply


class LanguageModel(Protocol):
    """Answers prompts. Safe to use from several threads; an event loop calls it in a separate thread."""

    @property
    def identity(self) -> ModelIdentity:
        """Return the identity of the model; it is known without a call."""
        ...

    def complete(self, prompt: Prompt) -> Reply:
        """Return the complete reply, or raise a ModelError with the reason."""
        ...

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Return the reply as it arrives; the request is sent when the first piece is read."""
        ...

    def close(self) -> None:
        """Free memory and connections; a later call opens them again."""
        ...
