"""Encodes a credential as bytes, and parses a token server's answer."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import cast

from recollectum.domain.access.credential import Credential, CredentialKind, OAuthToken, ServiceApiKey
from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import Clock

_LONGEST_S = 100 * 365 * 86400
_TEXTS = ("scope", "token_type", "client_id", "token_url", "server_url")


def encode(credential: Credential) -> str:
    """Return the secret and its fields as one line. This is the secret itself."""
    if isinstance(credential, ServiceApiKey):
        return json.dumps({"value": credential.value})
    fields = {name: getattr(credential, name) for name in ("access_token", "refresh_token", *_TEXTS)}
    ends = credential.expires_at
    return json.dumps({**fields, "expires_at": ends.isoformat() if ends else None})


def decode(kind: CredentialKind, text: str) -> Credential | None:
    """Return the credential that `encode` wrote, or None when the text is invalid."""
    fields = json_object(text)
    try:
        if kind is CredentialKind.API_KEY:
            return ServiceApiKey(_text(fields, "value") or "")
        ends = _text(fields, "expires_at")
        return _token(fields, datetime.fromisoformat(ends) if ends else None)
    except (InvalidInput, ValueError):
        return None


def from_answer(text: str, clock: Clock) -> OAuthToken:
    """Return the token in the JSON answer of a token server; `expires_in` counts from now."""
    fields = json_object(text)
    if not fields:
        raise InvalidInput("the token is not a JSON object; give the server's answer, with access_token in it")
    seconds = fields.get("expires_in")
    ends = _text(fields, "expires_at")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= _LONGEST_S:
        return _token(fields, clock() + timedelta(seconds=seconds))
    if seconds is not None:
        raise InvalidInput("the token's expires_in is not a number of seconds; correct it or leave it out")
    return _token(fields, _moment(ends) if ends else None)


def json_object(text: str | bytes) -> Mapping[str, object]:
    """Return the JSON object in a text; empty when it is invalid. An error would quote the text, so none is raised."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def _token(fields: Mapping[str, object], ends: datetime | None) -> OAuthToken:
    return OAuthToken(
        access_token=_text(fields, "access_token") or "",
        refresh_token=_text(fields, "refresh_token"),
        expires_at=ends,
        scope=_text(fields, "scope") or "",
        token_type=_text(fields, "token_type") or "Bearer",
        client_id=_text(fields, "client_id"),
        token_url=_text(fields, "token_url"),
        server_url=_text(fields, "server_url"),
    )


def _text(fields: Mapping[str, object], name: str) -> str | None:
    found = fields.get(name)
    if found is not None and not isinstance(found, str):
        raise InvalidInput(f"the token's {name} is not a text; correct it or leave it out")
    return found or None


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("the token's expires_at is not an ISO 8601 time; write 2026-01-31T12:00:00Z") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
