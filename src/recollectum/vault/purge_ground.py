"""What a purge stands on beside its vault: the catalog with the ledger, the keys, and the files of the home."""

import hmac
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from recollectum.domain.ids import Clock
from recollectum.domain.owner import Owner
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.storage.keystore import KeyStore
from recollectum.storage.port import Database
from recollectum.storage.tables import erased
from recollectum.vault.purge_needles import Needles

_SALT = "salt"
_SEED = "signing"
_SECRET_BYTES = 32
_DIGEST_BYTES = 16


class Ground(NamedTuple):
    """The parts of one home that a purge of one vault touches."""

    home: Home
    catalog: Database
    keys: KeyStore
    clock: Clock
    #: Close a vault's file in this process; True when nobody else has it open either.
    release: Callable[[str], bool]
    #: Empty the catalog's log; False while somebody reads from before.
    settle_catalog: Callable[[], bool]
    #: Pieces of what purges of this process erased, until their files are searched.
    needles: dict[str, Needles]
    #: Delete the secrets that were kept for a vault; how many there were.
    forget_secrets: Callable[[str], int]
    vault_id: str

    def has_ledger(self) -> bool:
        """Whether anything was ever erased in this home."""
        return self.catalog.read(lambda tx: erased.find_secret(tx, _SALT)) is not None

    def lock(self) -> Lock:
        """One purge of a vault at a time, in all processes."""
        return Lock(self.home.locks / f"purge-{self.vault_id}.lock", clock=self.clock)

    def salt(self) -> bytes:
        """The key of the ledger's digests."""
        return self._secret(_SALT)

    def seed(self) -> bytes:
        """The secret that receipts are signed with."""
        return self._secret(_SEED)

    def _secret(self, name: str) -> bytes:
        known = self.catalog.read(lambda tx: erased.find_secret(tx, name))
        if known is not None:
            return known
        return self.catalog.write(lambda tx: erased.secret(tx, name, secrets.token_bytes(_SECRET_BYTES)))

    def backups_of(self, vault_ids: Iterable[str]) -> list[Path]:
        """The copies of vaults that were made before migrations, were put aside, or are in backups of the home."""
        # Here and below only now: every home has a ground, and few erase anything.
        from recollectum.vault.purge_backups import copies_of  # noqa: PLC0415

        return copies_of(self.home.backups, vault_ids)

    def destroy_backups(self, vault_ids: Iterable[str], before: datetime | None = None) -> int:
        """Destroy those copies, or those from before a time: they hold what was erased."""
        from recollectum.vault.purge_backups import destroy_copies  # noqa: PLC0415

        return destroy_copies(self.home.backups, tuple(vault_ids), before)

    def erased_until(self) -> datetime | None:
        """When something was last erased from this vault."""
        return self.catalog.read(lambda tx: erased.last_time(tx, vault_digest(self.salt(), self.vault_id)))


def digest(salt: bytes, *parts: str) -> bytes:
    """What the ledger calls a thing: without the salt nobody can tell what it was."""
    return hmac.digest(salt, "\x1f".join(parts).encode("utf-8", "surrogatepass"), "sha256")[:_DIGEST_BYTES]


def vault_digest(salt: bytes, vault_id: str) -> bytes:
    """What the ledger calls a vault."""
    return digest(salt, "vault", vault_id)


def was_erased(catalog: Database, vault_id: str) -> bool:
    """Whether a whole vault was erased from the home of this catalog."""
    salt = catalog.read(lambda tx: erased.find_secret(tx, _SALT))
    if salt is None:
        return False
    noted = vault_digest(salt, vault_id)
    return catalog.read(lambda tx: erased.is_noted(tx, noted, noted))


def owner_digest(salt: bytes, owner: Owner | str) -> str:
    """What a receipt calls an owner."""
    return digest(salt, "owner", str(owner)).hex()
