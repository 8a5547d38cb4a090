"""OpenAI's dialect for embeddings, which most servers speak."""

from collections.abc import Mapping, Sequence
from typing import cast

from recollectum.domain.models.embedder import Purpose
from recollectum.domain.records import dataclass
from recollectum.models.embedding.inputs import Prompts, prompts_for

BASE_URL = "https://api.openai.com/v1"
MODEL = "text-embedding-3-small"
KEY_VARIABLE = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class OpenAI:
    """One model of a server that speaks OpenAI's dialect."""

    model: str
    dimensions: int
    path: str = "/embeddings"

    @property
    def prompts(self) -> Prompts:
        """Return the prefixes that the model expects."""
        return prompts_for(self.model)

    @property
    def max_tokens(self) -> int:
        """Return the limit of the model if it is known, or a limit that any model has."""
        return 8191 if self.model.startswith("text-embedding-") else 512

    def body(self, texts: Sequence[str], purpose: Purpose) -> object:  # noqa: ARG002 - the prompts have told them apart
        """Return the request body."""
        # Not every server supports base64, which is the usual default.
        asked = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        return {**asked, "dimensions": self.dimensions} if self.dimensions else asked

    def rows(self, answer: object) -> object:
        """Return the vector of each text; a server may send them in any order, with their index."""
        data = cast("Mapping[str, Sequence[Mapping[str, object]]]", answer)["data"]
        return [one["embedding"] for one in sorted(data, key=_place)]


def _place(one: Mapping[str, object]) -> int:
    return cast("int", one.get("index", 0))


def key_headers(key: str) -> Mapping[str, str]:
    """Return the headers with the API key."""
    return {"Authorization": f"Bearer {key}"}
