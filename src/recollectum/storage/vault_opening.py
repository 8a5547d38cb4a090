"""Opens a vault with its key, also while another process gives it a new one."""

from collections.abc import Callable
from typing import NamedTuple

from recollectum.domain.errors import Damaged, WrongKey
from recollectum.storage.engine import Engine
from recollectum.storage.keystore import KeyStore
from recollectum.storage.port import Database
from recollectum.storage.tables.catalog.vaults import VaultEntry


class SettledKey(NamedTuple):
    """The key that opens a vault, and whether the change that gave it this key is finished."""

    key: bytes
    finished: bool


def open_vault(engine: Engine, keys: KeyStore, entry: VaultEntry, settle: Callable[[str], SettledKey]) -> Database:
    """Open a vault; `settle` waits for a change of its key, or finishes or undoes one that was interrupted.

    A change first records the next key, and then looks whether anybody has the vault open. Here it is the other way
    round: so either this process sees the next key, or the other one sees the open vault.
    """
    if not entry.encrypted:
        return engine.open_vault(entry.id, entry.owner, None)

    def present() -> SettledKey:
        changing = keys.find_next_key(entry.id) is not None
        return settle(entry.id) if changing else SettledKey(keys.key(entry.id), finished=True)

    while True:
        key, finished = present()
        try:
            database = engine.open_vault(entry.id, entry.owner, key, lambda: present().key)
        except (WrongKey, Damaged):
            if not finished or keys.is_key(entry.id, key):
                raise
            continue
        if not finished or keys.is_key(entry.id, key):
            return database
        database.close()
