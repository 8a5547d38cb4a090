"""Reranker: the protocol of an object that scores how well each text answers a question."""

from collections.abc import Sequence
from typing import Protocol

from recollectum.domain.models.language_model import ModelIdentity


class Reranker(Protocol):
    """Reads a question together with each text, which says more than two vectors can. Safe to use from threads."""

    @property
    def identity(self) -> ModelIdentity:
        """Return the identity of the model; it is known without a call."""
        ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a finite number for each text, in order, higher for a better answer; comparable within one call only.

        Any text is valid; raise a ModelError when there is no answer.
        """
        ...

    def close(self) -> None:
        """Free memory and connections; a later call opens them again."""
        ...
