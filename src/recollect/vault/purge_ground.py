"""What a purge stands on beside its vault: the catalog with the ledger, the keys, and the files of the home."""

import hmac
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from recollect.domain.ids import Clock
from recollect.domain.owner import Owner
from recollect.home.files import sync_folder
from recollect.home.locks import Lock
from recollect.home.paths import Home
from recollect.storage.keystore import KeyStore
from recollect.storage.port import Database
from recollect.storage.tables import erased
from recollect.vault.purge_needles import Needles

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
        """The copies of vaults that were made before migrations, and those in backups of the home."""
        patterns = [pattern for one in vault_ids for pattern in (f"*{one}-*", f"*/vaults/{one}.db*")]
        return sorted({path for pattern in patterns for path in self.home.backups.glob(pattern)})

    def destroy_backups(self, vault_ids: Iterable[str]) -> int:
        """Destroy those copies: they hold what was erased, and the vault is past what they are for."""
        found = self.backups_of(vault_ids)
        for path in found:
            path.unlink(missing_ok=True)
        for folder in {path.parent for path in found}:
            sync_folder(folder)
        return len(found)


def digest(salt: bytes, *parts: str) -> bytes:
    """What the ledger calls a thing: without the salt nobody can tell what it was."""
    return hmac.digest(salt, "\x1f".join(parts).encode("utf-8", "surrogatepass"), "sha256")[:_DIGEST_BYTES]


def vault_digest(salt: bytes, vault_id: str) -> bytes:
    """What the ledger calls a vault."""
    return digest(salt, "vault", vault_id)


def owner_digest(salt: bytes, owner: Owner | str) -> str:
    """What a receipt calls an owner."""
    return digest(salt, "owner", str(owner)).hex()
