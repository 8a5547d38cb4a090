"""Credential: an API key or an OAuth token, stored under a service, an account and a kind."""

import json
import unicodedata
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass

DEFAULT_ACCOUNT = "default"
#: A token this close to its end may expire before the request arrives.
LEEWAY = timedelta(seconds=60)
MAX_NAME = 256
MAX_SECRET = 64 * 1024


class CredentialKind(StrEnum):
    """The kind of a secret."""

    API_KEY = "api_key"
    OAUTH = "oauth"


class SecretLocation(StrEnum):
    """Where the secret is stored."""

    KEYRING = "keyring"
    FILE = "file"


@dataclass(frozen=True, slots=True, order=True)
class CredentialName:
    """The unique name of a credential; a sealed secret opens only under its own name."""

    service: str
    account: str
    kind: CredentialKind

    def __post_init__(self) -> None:
        """Raise for characters that cannot be told apart on a screen."""
        _check_name(self.service, "a credential's name")
        _check_name(self.account, "an account's name")

    def text_key(self) -> str:
        """Return the whole name as one text, equal only for equal names."""
        return json.dumps([self.service, self.account, self.kind.value], separators=(",", ":"))

    def __str__(self) -> str:
        return f"{self.kind} {self.service!r} of account {self.account!r}"


@dataclass(frozen=True, slots=True)
class ServiceApiKey:
    """An API key, valid until it is revoked."""

    value: str = field(repr=False)

    def __post_init__(self) -> None:
        """Raise for a key that cannot be sent in a header."""
        _check_secret(self.value, "the key")

    @property
    def kind(self) -> CredentialKind:
        """The kind of the credential."""
        return CredentialKind.API_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthToken:
    """A token that expires, with what is needed to refresh it."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    #: None where the server did not say.
    expires_at: datetime | None = None
    #: The scopes, separated by spaces.
    scope: str = ""
    token_type: str = "Bearer"
    client_id: str | None = None
    #: A URL may have a secret in its query.
    token_url: str | None = field(default=None, repr=False)
    server_url: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Raise for values that cannot be sent, and for a time without a zone."""
        _check_secret(self.access_token, "the access token")
        if self.refresh_token is not None:
            _check_secret(self.refresh_token, "the refresh token")
        if self.expires_at is not None and self.expires_at.tzinfo is None:
            raise InvalidInput("the token's expires_at has no time zone; give one, such as UTC")

    @property
    def kind(self) -> CredentialKind:
        """The kind of the credential."""
        return CredentialKind.OAUTH

    def is_expired(self, clock: Clock, leeway: timedelta = LEEWAY) -> bool:
        """Return whether it has expired or will within the leeway; a token without an end never does."""
        # The leeway is added to the clock: an end near the largest date cannot be moved.
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
    # The value is never quoted: somebody may have pasted a password by mistake.
    if not value:
        raise InvalidInput(f"{what} is empty; give it on stdin or at the prompt")
    if len(value) > MAX_SECRET:
        raise InvalidInput(f"{what} has {len(value)} characters; use at most {MAX_SECRET}")
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise InvalidInput(f"{what} holds a space, a line break or a character outside ASCII; copy the value alone")
