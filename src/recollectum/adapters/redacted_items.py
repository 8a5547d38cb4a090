"""Redacts the secrets in the texts of an item of a conversation, and leaves what programs wrote for programs."""

from collections.abc import Mapping, Sequence
from typing import cast

from recollectum.domain.message import Json
from recollectum.text.cleaning import clean_json
from recollectum.vault.intake.redaction import redact_json, redact_text

#: Fields that programs wrote for programs: ids, types, and data that has to stay as it is to be of use.
_OPAQUE = frozenset(
    {
        "audio",
        "call_id",
        "data",
        "encrypted_content",
        "file_data",
        "file_id",
        "id",
        "image_url",
        "invocation_id",
        "role",
        "status",
        "thought_signature",
        "type",
    }
)


def without_secrets(item: Mapping[str, Json], opaque: frozenset[str] = frozenset()) -> dict[str, Json]:
    """Return an item with a placeholder for each secret in its texts; raise when it is not JSON.

    `opaque` names further fields that a framework writes for itself.
    """
    return cast("dict[str, Json]", _redacted(clean_json(item), "", _OPAQUE | opaque))


def _redacted(value: Json, name: str, opaque: frozenset[str]) -> Json:
    if isinstance(value, str):
        return value if name in opaque else redact_json(value, name)
    if isinstance(value, Mapping):
        return {redact_text(key): _redacted(inner, key, opaque) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [_redacted(inner, name, opaque) for inner in value]
    return value
