"""Embedder: the protocol of an object that turns each text into one vector of length 1."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from recollectum.domain.models.embedder import EmbedderIdentity, Purpose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Rows of float32, each of length 1.
Vectors: TypeAlias = "NDArray[np.float32]"


class Embedder(Protocol):
    """Turns texts into vectors whose dot product measures the similarity of two meanings.

    Safe to use from several threads.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the identity of the vectors; it is known without calling the model."""
        ...

    @property
    def max_tokens(self) -> int:
        """Return the most tokens of a text that the model reads; the rest is ignored."""
        ...

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """Return one row for each text, in order. Any text is valid; raise a ModelError when there is no answer."""
        ...

    def close(self) -> None:
        """Free memory and connections; a later call opens them again."""
        ...


@runtime_checkable
class Wrapper(Protocol):
    """An embedder that adds something to another one."""

    @property
    def inner(self) -> Embedder:
        """Return the wrapped embedder."""
        ...
