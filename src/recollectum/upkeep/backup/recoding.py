"""Encrypts the copies of a home that is being restored, or decrypts them."""

from pathlib import Path

from recollectum.domain.ids import Clock
from recollectum.settings.model import StorageSettings
from recollectum.storage.copies import KEYS_COPY, copy_name, mark_vaults, recode_copy
from recollectum.storage.engine import CATALOG
from recollectum.storage.keystore import KeyStore
from recollectum.upkeep.backup.manifest_file import Manifest


def recode_home(
    room: Path, manifest: Manifest, keys: KeyStore | None, settings: StorageSettings, clock: Clock, *, encrypted: bool
) -> tuple[str, ...]:
    """Give every copy a key, or take it away; return the names of the files that make up the home then."""
    parts = [part for part in manifest.parts if part.file != KEYS_COPY]
    for part in parts:
        vault_id = part.vault_id or CATALOG
        old = keys.key(vault_id) if keys and part.encrypted else None
        new = (old or keys.make_key(vault_id)) if keys and encrypted else None
        if old != new:
            recode_copy(room / part.file, old, new)
        if vault_id == CATALOG:
            mark_vaults(room / copy_name(CATALOG), new, settings, clock, encrypted=encrypted)
    return (*(part.file for part in parts), *((KEYS_COPY,) if encrypted else ()))
