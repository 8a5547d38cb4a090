"""RemoteEmbedder: a model behind an endpoint, in the endpoint's dialect."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from recollectum.domain.errors import ModelRefused
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.inputs import Prompts, fit_text
from recollectum.models.embedding.vectors import from_answer, need_numpy
from recollectum.models.http.client import JsonClient

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Vectors


class EmbeddingDialect(Protocol):
    """How one kind of endpoint is asked, and how it answers."""

    @property
    def path(self) -> str:
        """Where to post, below the base address."""
        ...

    @property
    def prompts(self) -> Prompts:
        """What the model wants before a text."""
        ...

    @property
    def max_tokens(self) -> int:
        """How much of a text the model reads."""
        ...

    def body(self, texts: Sequence[str], purpose: Purpose) -> object:
        """The question."""
        ...

    def rows(self, answer: object) -> object:
        """The numbers for each text, in order; a KeyError, TypeError or AttributeError where it is no answer."""
        ...


class RemoteEmbedder:
    """Asks an endpoint for vectors, once for each call."""

    def __init__(self, identity: EmbedderIdentity, dialect: EmbeddingDialect, wire: JsonClient) -> None:
        need_numpy()
        self._identity = identity
        self._dialect = dialect
        self._wire = wire
        self._dimensions = identity.dimensions

    @property
    def identity(self) -> EmbedderIdentity:
        """Which vectors these are."""
        return self._identity

    @property
    def max_tokens(self) -> int:
        """How much of a text the model reads."""
        return self._dialect.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "Vectors":
        """One row for each text, in order."""
        import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

        if not texts:
            return np.zeros((0, self._dimensions), np.float32)
        name = self._wire.endpoint.name
        put = [self._dialect.prompts.put(fit_text(text, self.max_tokens), purpose) for text in texts]
        answer = self._wire.post(self._dialect.path, self._dialect.body(put, purpose))
        try:
            rows = self._dialect.rows(answer)
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelRefused(f"{name} did not answer with vectors; check embedding.base_url") from error
        found = from_answer(rows, len(texts), self._dimensions, name)
        # A server that serves another model from now on is found out by its first answer.
        self._dimensions = found.shape[1]
        return found

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._wire.close()
