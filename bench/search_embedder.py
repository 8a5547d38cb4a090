"""The embedder of a search benchmark: it runs no model, and imports little, because a first search is timed with it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recollectum.domain.models.embedder import EmbedderIdentity, Purpose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

OWNER = "user:ann"
DIMENSIONS = 384


class TableEmbedder:
    """An embedder that knows the vectors of a few questions, so that no model runs."""

    max_tokens = 512

    def __init__(self, known: "Mapping[str, Vectors]") -> None:
        self.identity = EmbedderIdentity(
            provider="table", model="clusters", digest="", dimensions=DIMENSIONS, form="plain", provider_key=""
        )
        self._known = known

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "Vectors":  # noqa: ARG002 - it embeds questions only
        """Return one row for each text, in order."""
        import numpy as np  # noqa: PLC0415 - the list of benchmarks must not need it

        return np.stack([self._known[text] for text in texts])

    def close(self) -> None:
        """Do nothing: nothing is held."""
