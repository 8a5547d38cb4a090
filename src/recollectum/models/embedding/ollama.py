"""Ollama's dialect for embeddings."""

from collections.abc import Mapping, Sequence
from typing import cast

from recollectum.domain.models.embedder import Purpose
from recollectum.domain.records import dataclass
from recollectum.models.embedding.inputs import Prompts, prompts_for

BASE_URL = "http://127.0.0.1:11434"
MODEL = "nomic-embed-text"


@dataclass(frozen=True, slots=True)
class Ollama:
    """One model served by Ollama."""

    model: str
    dimensions: int
    path: str = "/api/embed"

    @property
    def prompts(self) -> Prompts:
        """Return the prefixes that the model expects; Ollama does not add them."""
        return prompts_for(self.model)

    @property
    def max_tokens(self) -> int:
        """Return a limit for any model; Ollama truncates for a smaller one."""
        return 512

    def body(self, texts: Sequence[str], purpose: Purpose) -> object:  # noqa: ARG002 - the prompts have told them apart
        """Return the request body."""
        asked = {"model": self.model, "input": list(texts), "truncate": True}
        return {**asked, "dimensions": self.dimensions} if self.dimensions else asked

    def rows(self, answer: object) -> object:
        """Return the vector of each text."""
        return cast("Mapping[str, object]", answer)["embeddings"]
