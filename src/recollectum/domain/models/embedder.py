"""EmbedderIdentity: what two vectors must share to be comparable."""

import json
from enum import StrEnum
from typing import cast

from recollectum.domain.records import dataclass


class Purpose(StrEnum):
    """The purpose of an embedding; many models treat the two differently."""

    PASSAGE = "passage"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderIdentity:
    """Which model made a vector, and with which parameters."""

    provider: str
    model: str
    #: Digest of the model's files; empty where they are not accessible.
    digest: str
    #: 0 leaves the length to the model.
    dimensions: int
    #: How passages and queries are presented to the model.
    form: str
    #: A digest of the endpoint and the account, never a secret; empty for a model on this machine.
    provider_key: str

    def text_key(self) -> str:
        """Return all of it as one text, equal only for equal identities; it can be stored and compared later."""
        parts = (self.provider, self.model, self.digest, self.dimensions, self.form, self.provider_key)
        return json.dumps(parts, separators=(",", ":"))

    @classmethod
    def from_text_key(cls, text: str) -> "EmbedderIdentity | None":
        """Return the identity that a text encodes; None when it is invalid or has fields of a newer version."""
        try:
            parts: object = json.loads(text)
        except ValueError:
            return None
        if not isinstance(parts, list):
            return None
        named = dict(zip(cls.__slots__, cast("list[object]", parts), strict=False))
        match named:
            case {
                "provider": str(provider),
                "model": str(model),
                "digest": str(digest),
                "dimensions": int(dimensions),
                "form": str(form),
                "provider_key": str(provider_key),
            }:
                found = cls(
                    provider=provider,
                    model=model,
                    digest=digest,
                    dimensions=dimensions,
                    form=form,
                    provider_key=provider_key,
                )
                return found if found.text_key() == text else None
            case _:
                return None
