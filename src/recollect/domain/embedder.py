"""EmbedderIdentity: everything two vectors must share before they may be compared."""

import json
from dataclasses import astuple, dataclass
from enum import StrEnum


class Purpose(StrEnum):
    """What a text is embedded for; many models treat the two differently."""

    PASSAGE = "passage"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderIdentity:
    """Which model made a vector, and how it was asked."""

    provider: str
    model: str
    #: Of the model's files; empty where they are out of sight.
    digest: str
    #: 0 where the length is left to the model.
    dimensions: int
    #: How passages and queries are put to the model.
    form: str
    #: A digest of the endpoint and the account, never a secret; empty for a model on this machine.
    provider_key: str

    def text_key(self) -> str:
        """All of it as one text, equal for equal identities only; it may be stored and compared later."""
        return json.dumps(astuple(self), separators=(",", ":"))
