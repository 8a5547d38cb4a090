"""Embedder: the protocol of what turns each text into one vector of length 1."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from recollectum.domain.models.embedder import EmbedderIdentity, Purpose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Rows of float32, each of length 1.
Vectors: TypeAlias = "NDArray[np.float32]"


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how near two meanings are. Safe to use from several threads."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Which vectors these are; it is known without a call of the model."""
        ...

    @property
    def max_tokens(self) -> int:
        """How much of a text the model reads; the rest is left out."""
        ...

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """One row for each text, in order. Any text is legal; a ModelError says why there is no answer."""
        ...

    def close(self) -> None:
        """Give back memory and connections; a later call takes them again."""
        ...


@runtime_checkable
class Wrapper(Protocol):
    """An embedder that adds something to another one."""

    @property
    def inner(self) -> Embedder:
        """The one it adds to."""
        ...
