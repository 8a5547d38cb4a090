"""The dialect of Ollama's embeddings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.inputs import Prompts, prompts_for

BASE_URL = "http://127.0.0.1:11434"
MODEL = "nomic-embed-text"


@dataclass(frozen=True, slots=True)
class Ollama:
    """One model that Ollama has."""

    model: str
    dimensions: int
    path: str = "/api/embed"

    @property
    def prompts(self) -> Prompts:
        """What the model wants before a text; Ollama does not add it."""
        return prompts_for(self.model)

    @property
    def max_tokens(self) -> int:
        """What any model reads; Ollama itself cuts what a smaller one does not."""
        return 512

    def body(self, texts: Sequence[str], purpose: Purpose) -> object:  # noqa: ARG002 - the prompts have told them apart
        """The question."""
        asked = {"model": self.model, "input": list(texts), "truncate": True}
        return {**asked, "dimensions": self.dimensions} if self.dimensions else asked

    def rows(self, answer: object) -> object:
        """The numbers for each text."""
        return cast("Mapping[str, object]", answer)["embeddings"]
