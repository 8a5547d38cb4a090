"""Gemini's dialect for embeddings."""

from collections.abc import Mapping, Sequence
from typing import cast
from urllib.parse import quote

from recollectum.domain.models.embedder import Purpose
from recollectum.domain.records import dataclass
from recollectum.models.embedding.inputs import Prompts, prompts_for

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
MODEL = "gemini-embedding-001"
KEY_VARIABLE = "GEMINI_API_KEY"
#: The most texts in one call.
MAX_BATCH = 100

_TASKS = {Purpose.PASSAGE: "RETRIEVAL_DOCUMENT", Purpose.QUERY: "RETRIEVAL_QUERY"}


@dataclass(frozen=True, slots=True)
class Gemini:
    """One of Gemini's models."""

    model: str
    dimensions: int

    @property
    def path(self) -> str:
        """Return the request path, below the base address."""
        return f"/models/{quote(self.model)}:batchEmbedContents"

    @property
    def prompts(self) -> Prompts:
        """Return the prefixes of the model; they are empty if it takes the task as a separate field."""
        return prompts_for(self.model)

    @property
    def max_tokens(self) -> int:
        """Return the most tokens of a text that the models read."""
        return 2048

    def body(self, texts: Sequence[str], purpose: Purpose) -> object:
        """Return the request body."""
        every: dict[str, object] = {"model": f"models/{self.model}"}
        if self.prompts == Prompts():
            every["taskType"] = _TASKS[purpose]
        if self.dimensions:
            every["outputDimensionality"] = self.dimensions
        return {"requests": [{**every, "content": {"parts": [{"text": text}]}} for text in texts]}

    def rows(self, answer: object) -> object:
        """Return the vector of each text."""
        data = cast("Mapping[str, Sequence[Mapping[str, object]]]", answer)["embeddings"]
        return [one["values"] for one in data]


def key_headers(key: str) -> Mapping[str, str]:
    """Return the headers with the API key; the key is never in the address, which servers log."""
    return {"x-goog-api-key": key}
