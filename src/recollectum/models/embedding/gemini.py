"""The dialect of Gemini's embeddings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote

from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.inputs import Prompts, prompts_for

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
MODEL = "gemini-embedding-001"
KEY_VARIABLE = "GEMINI_API_KEY"
#: The most texts in one call.
MAX_BATCH = 100

_TASKS = {Purpose.PASSAGE: "RETRIEVAL_DOCUMENT", Purpose.QUERY: "RETRIEVAL_QUERY"}


@dataclass(frozen=True, slots=True)
class Gemini:
    """One model of Gemini's."""

    model: str
    dimensions: int

    @property
    def path(self) -> str:
        """Where to post, below the base address."""
        return f"/models/{quote(self.model)}:batchEmbedContents"

    @property
    def prompts(self) -> Prompts:
        """Nothing for models that are told the task beside the text."""
        return prompts_for(self.model)

    @property
    def max_tokens(self) -> int:
        """How much of a text the models read."""
        return 2048

    def body(self, texts: Sequence[str], purpose: Purpose) -> object:
        """The question."""
        every: dict[str, object] = {"model": f"models/{self.model}"}
        if self.prompts == Prompts():
            every["taskType"] = _TASKS[purpose]
        if self.dimensions:
            every["outputDimensionality"] = self.dimensions
        return {"requests": [{**every, "content": {"parts": [{"text": text}]}} for text in texts]}

    def rows(self, answer: object) -> object:
        """The numbers for each text."""
        data = cast("Mapping[str, Sequence[Mapping[str, object]]]", answer)["embeddings"]
        return [one["values"] for one in data]


def key_headers(key: str) -> Mapping[str, str]:
    """How the key is shown to the server; never in the address, which servers write into their logs."""
    return {"x-goog-api-key": key}
