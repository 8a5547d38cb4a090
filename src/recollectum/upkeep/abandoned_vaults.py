"""Recognises a vault whose creation was killed: it exists and holds nothing, and the catalog does not list it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from recollectum.domain.errors import KeyProblem, StorageError
from recollectum.storage.engine import Engine
from recollectum.storage.keystore import KeyStore

#: A vault, or a folder, that was changed later may be one that a program is making at this moment.
ABANDONED: Final = timedelta(hours=1)
_CONTENT = ("memories", "memory_versions", "messages", "sessions", "notes", "note_folders", "transcript_roots")


def holds_nothing(engine: Engine, keys: KeyStore, vault_id: str) -> bool | None:
    """Return whether a vault never had content; None when that cannot be known."""
    try:
        key = keys.key(vault_id) if keys.has_key(vault_id) else None
        with engine.upkeep.inspect(vault_id, key) as found:
            counts = found.row_counts()
    except (StorageError, KeyProblem):
        return None
    return not any(counts.get(name, 0) for name in _CONTENT)


def is_abandoned(engine: Engine, keys: KeyStore, vault_id: str, clock: Callable[[], datetime]) -> bool:
    """Return whether an unlisted vault is what a killed creation of this home left.

    The key of a vault is made before the vault, so where there are keys, a vault without one is of another home. Where
    there are no keys, its age has to tell.
    """
    if keys.enabled:
        is_ours = keys.has_key(vault_id)
    else:
        place = engine.place_of(vault_id)
        is_ours = place is not None and clock() - place.changed_at >= ABANDONED
    return is_ours and holds_nothing(engine, keys, vault_id) is True
