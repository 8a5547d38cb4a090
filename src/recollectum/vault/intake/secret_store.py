"""Stores redacted secrets in the credential store, separately for each vault."""

import base64
import hmac
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from recollectum.domain.access.credential import ServiceApiKey
from recollectum.domain.errors import NotFound
from recollectum.domain.ids import Clock
from recollectum.home.credentials.store import Credentials
from recollectum.home.paths import Home
from recollectum.storage.keystore import KeyStore
from recollectum.storage.port import Database
from recollectum.storage.tables.erasure import erased
from recollectum.vault.intake.kept_secrets import SERVICE

_SECRET = "keeping"
_SECRET_BYTES = 32
_OF_VAULT, _OF_TEXT = 10, 16
_ALPHABET = str.maketrans("abcdefghijklmnopqrstuvwxyz234567", "0123456789abcdefghjkmnpqrstvwxyz")


class SecretStore(NamedTuple):
    """The secrets that were redacted in the vaults of one home and stored in the credential store."""

    home: Home
    keys: KeyStore
    catalog: Database
    environ: Mapping[str, str]
    clock: Clock

    def keep(self, vault_id: str, value: str) -> str:
        """Store a secret; return its account, which is the same for the same secret in the same vault."""
        account = f"{self._beginning(vault_id)}{self._digits(_OF_TEXT, vault_id, value)}"
        self._store().save(SERVICE, ServiceApiKey(value), account=account)
        return account

    def forget(self, account: str) -> None:
        """Delete a secret; do nothing when it is gone already."""
        with suppress(NotFound):
            self._store().delete(SERVICE, account=account)

    def forget_vault(self, vault_id: str) -> int:
        """Delete every secret stored for a vault; return how many."""
        begins = self._beginning(vault_id)
        found = [
            one.account for one in self._store().all() if one.service == SERVICE and one.account.startswith(begins)
        ]
        for account in found:
            self.forget(account)
        return len(found)

    def _store(self) -> Credentials:
        return Credentials(self.home, self.keys, environ=self.environ, clock=self.clock)

    def _beginning(self, vault_id: str) -> str:
        return f"sec_{self._digits(_OF_VAULT, vault_id)}"

    def _digits(self, count: int, *parts: str) -> str:
        # Keyed: otherwise anybody could compute the name and guess secrets until one matches.
        text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
        made = hmac.digest(self._key(), text, "sha256")
        return base64.b32encode(made).decode().lower().translate(_ALPHABET)[:count]

    def _key(self) -> bytes:
        known = self.catalog.read(lambda tx: erased.find_secret(tx, _SECRET))
        if known is not None:
            return known
        return self.catalog.write(lambda tx: erased.secret(tx, _SECRET, secrets.token_bytes(_SECRET_BYTES)))
