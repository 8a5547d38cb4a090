"""Reranker: the protocol of what scores how well each text answers a question."""

from collections.abc import Sequence
from typing import Protocol

from recollectum.domain.models.language_model import ModelIdentity


class Reranker(Protocol):
    """Reads a question together with each text, which tells more than two vectors can. Safe to use from threads."""

    @property
    def identity(self) -> ModelIdentity:
        """Which model judges; it is known without a call of it."""
        ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """A finite number for each text, in order, higher for a better answer; comparable within one call only.

        Any text is legal; a ModelError says why there is no answer.
        """
        ...

    def close(self) -> None:
        """Give back memory and connections; a later call takes them again."""
        ...
