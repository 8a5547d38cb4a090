"""Credential: an API key or an OAuth token, stored under a service, an account and a kind."""

import json
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import Clock

DEFAULT_ACCOUNT = "default"
#: A token this near its end would not outlive the request it is sent with.
LEEWAY = timedelta(seconds=60)
MAX_NAME = 256
MAX_SECRET = 64 * 1024


class CredentialKind(StrEnum):
    """What sort of secret it is."""

    API_KEY = "api_key"
    OAUTH = "oauth"


class SecretLocation(StrEnum):
    """Where the secret itself is."""

    KEYRING = "keyring"
    FILE = "file"


@dataclass(frozen=True, slots=True, order=True)
class CredentialName:
    """What a credential is kept under; no two have the same, and none opens under another's."""

    service: str
    account: str
    kind: CredentialKind

    def __post_init__(self) -> None:
        """Refuse what cannot be told apart on a screen."""
        _check_name(self.service, "a credential's name")
        _check_name(self.account, "an account's name")

    def text_key(self) -> str:
        """All of it as one text, equal for equal names only."""
        return json.dumps([self.service, self.account, self.kind.value], separators=(",", ":"))

    def __str__(self) -> str:
        return f"{self.kind} {self.service!r} of account {self.account!r}"


@dataclass(frozen=True, slots=True)
class ServiceApiKey:
    """A key that lets somebody in for as long as it is not revoked."""

    value: str = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be sent in a header."""
        _check_secret(self.value, "the key")

    @property
    def kind(self) -> CredentialKind:
        """What sort it is."""
        return CredentialKind.API_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthToken:
    """A token that ends, with what is needed to have another in its place."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    #: None where the server did not say.
    expires_at: datetime | None = None
    #: The scopes, with spaces between them.
    scope: str = ""
    token_type: str = "Bearer"
    client_id: str | None = None
    #: An address may have a secret in its query.
    token_url: str | None = field(default=None, repr=False)
    server_url: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be sent, and a time that could be any."""
        _check_secret(self.access_token, "the access token")
        if self.refresh_token is not None:
            _check_secret(self.refresh_token, "the refresh token")
        if self.expires_at is not None and self.expires_at.tzinfo is None:
            raise InvalidInput("the token's expires_at has no time zone; give one, such as UTC")

    @property
    def kind(self) -> CredentialKind:
        """What sort it is."""
        return CredentialKind.OAUTH

    def is_expired(self, clock: Clock, leeway: timedelta = LEEWAY) -> bool:
        """Whether it has ended, or will within the leeway; one without an end has not."""
        # The leeway goes to the clock's side: an end near the last day there is has no later one.
        return self.expires_at is not None and self.expires_at <= clock() + leeway


Credential = ServiceApiKey | OAuthToken


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialEntry:
    """What may be shown of a credential: everything but the secret."""

    service: str
    account: str
    kind: CredentialKind
    held: SecretLocation
    active: bool
    updated_at: datetime


def _check_name(name: str, what: str) -> None:
    if not name or name != name.strip():
        raise InvalidInput(f"{what} is empty or begins or ends with a space; give it letters or digits")
    if len(name) > MAX_NAME:
        raise InvalidInput(f"{what} has {len(name)} characters; use at most {MAX_NAME}")
    if not name.isprintable() or name != unicodedata.normalize("NFC", name):
        raise InvalidInput(f"{what} holds a character that cannot be shown or compared; spell it in plain letters")


def _check_secret(value: str, what: str) -> None:
    # The value is never quoted: a person who pasted the wrong thing may have pasted a password.
    if not value:
        raise InvalidInput(f"{what} is empty; give it on stdin or at the prompt")
    if len(value) > MAX_SECRET:
        raise InvalidInput(f"{what} has {len(value)} characters; use at most {MAX_SECRET}")
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise InvalidInput(
            f"{what} holds a space, a line break or a character outside ASCII; copy it again without what is around it"
        )
