"""Finishes or undoes a change of keys that was interrupted when a process ended."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

from recollectum.domain.errors import HomeError, StorageError
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.storage.engine import Engine, Progress
from recollectum.storage.keystore import KeyStore
from recollectum.storage.shared.key_place import CHANGES
from recollectum.storage.shared.shared_lock import SharedLock
from recollectum.storage.vault_opening import SettledKey

#: How often a process that waits for a change looks whether its vault is done.
_LOOKS = 100


@contextmanager
def changing_keys(home: Home, keys: KeyStore) -> Generator[None]:
    """Hold what a change of keys needs to itself: the keys, and the backups, which have copies of them."""
    with keys.place.lock(CHANGES), Lock(home.locks / "backup.lock"):
        yield


def settle_keys(home: Home, engine: Engine, keys: KeyStore) -> None:
    """Finish or undo every interrupted change, unless a process is at work on it."""
    lock = keys.place.lock(CHANGES)
    if not lock.wait(timedelta()):
        return
    try:
        settle_all(home, engine, keys)
    finally:
        lock.release()


def settle_all(home: Home, engine: Engine, keys: KeyStore) -> None:
    """Finish or undo every interrupted change; the caller holds the lock."""
    keys.settle_holder()
    for vault_id in keys.unfinished_vaults():
        settle_vault(engine, keys, vault_id)
    change = keys.find_master_change()
    if change is not None:
        # Imported here: it happens after a crash only.
        from recollectum.upkeep.rekey.backups import renew_backups  # noqa: PLC0415

        renew_backups(home, change)
        keys.finish_master(change)


def settled_key(engine: Engine, keys: KeyStore, vault_id: str) -> SettledKey:
    """Wait for a change of a vault's key, or finish or undo it; return the key that opens the vault."""
    lock = keys.place.lock(CHANGES)
    if keys.place.is_shared:
        if not lock.wait(timedelta()):
            # Another host changes it, or was killed, and its lease ends by itself: each transaction notices a new key.
            return _unsettled_key(engine, keys, vault_id)
    elif not _is_free(lock, keys, vault_id):
        # Done; the process may be at work on the next vault.
        return SettledKey(keys.key(vault_id), finished=True)
    try:
        settle_vault(engine, keys, vault_id)
    except (StorageError, HomeError, OSError):
        # A disk that takes no writes must not prevent reading: the change waits.
        return _unsettled_key(engine, keys, vault_id)
    finally:
        lock.release()
    return SettledKey(keys.key(vault_id), finished=True)


def _is_free(lock: Lock | SharedLock, keys: KeyStore, vault_id: str) -> bool:
    """Wait for the lock, or until the change of this vault is done; return whether the lock is held now."""
    for _ in range(_LOOKS):
        if lock.wait(lock.timeout / _LOOKS):
            return True
        if keys.find_next_key(vault_id) is None:
            return False
    lock.acquire()
    return True


def _unsettled_key(engine: Engine, keys: KeyStore, vault_id: str) -> SettledKey:
    new = keys.find_next_key(vault_id)
    is_new = new is not None and engine.upkeep.rewriting.is_opened_by(vault_id, new)
    return SettledKey(new if new and is_new else keys.key(vault_id), finished=False)


def settle_vault(engine: Engine, keys: KeyStore, vault_id: str, progress: Progress = lambda _: None) -> None:
    """Make the next key of a vault its key if it opens the vault, after its copies are rewritten; else delete it."""
    new, rewriting = keys.find_next_key(vault_id), engine.upkeep.rewriting
    if new is None:
        return
    if not rewriting.settle(vault_id, new, lambda: keys.remove_next_key(vault_id)):
        return
    if not keys.has_key(vault_id):
        # The vault was destroyed meanwhile.
        keys.remove_next_key(vault_id)
        return
    old = keys.key(vault_id)
    for copy in rewriting.copies(vault_id):
        rewriting.rewrite_copy(copy, old, new, progress)
    keys.use_next_key(vault_id)
