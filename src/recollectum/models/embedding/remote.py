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
    """The requests and answers of one kind of endpoint."""

    @property
    def path(self) -> str:
        """Return the request path, below the base address."""
        ...

    @property
    def prompts(self) -> Prompts:
        """Return the prefixes that the model expects."""
        ...

    @property
    def max_tokens(self) -> int:
        """Return the most tokens of a text that the model reads."""
        ...

    def body(self, texts: Sequence[str], purpose: Purpose) -> object:
        """Return the request body."""
        ...

    def rows(self, answer: object) -> object:
        """Return the vector of each text, in order.

        Raise KeyError, TypeError or AttributeError for an invalid answer.
        """
        ...


class RemoteEmbedder:
    """Requests vectors from an endpoint, once for each call."""

    def __init__(self, identity: EmbedderIdentity, dialect: EmbeddingDialect, wire: JsonClient) -> None:
        need_numpy()
        self._identity = identity
        self._dialect = dialect
        self._wire = wire
        self._dimensions = identity.dimensions

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the identity of the vectors."""
        return self._identity

    @property
    def max_tokens(self) -> int:
        """Return the most tokens of a text that the model reads."""
        return self._dialect.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "Vectors":
        """Return one row for each text, in order."""
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
        # A server that has switched to another model is detected by its first answer.
        self._dimensions = found.shape[1]
        return found

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._wire.close()
