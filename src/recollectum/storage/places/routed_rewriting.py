"""Rewrites each vault under another key where it is: its file, or its rows."""

from collections.abc import Callable
from pathlib import Path

from recollectum.domain.errors import StorageError
from recollectum.storage.engine import Engine, Progress, VaultRewriting


class RoutedRewriting:
    """The vaults of one home in two places; see `storage.engine.VaultRewriting`."""

    def __init__(self, engines: tuple[Engine, Engine], files: Engine, engine_of: Callable[[str], Engine]) -> None:
        self.engines = engines
        self._files = files.upkeep.rewriting
        self._engine_of = engine_of

    def _of(self, vault_id: str) -> VaultRewriting:
        return self._engine_of(vault_id).upkeep.rewriting

    def rewrite(
        self, vault_id: str, key: bytes, new_key: bytes, progress: Progress, check: Callable[[], None] = lambda: None
    ) -> None:
        """Rewrite a vault in one step; refuse while a move has left something of it that only the old key opens."""
        if all(vault_id in engine.vault_ids() for engine in self.engines):
            raise StorageError(
                f"a move has left a part of the vault {vault_id} in its old place, which only its present key opens; "
                "finish the move first, with: recollectum move"
            )
        self._of(vault_id).rewrite(vault_id, key, new_key, progress, check)

    def is_opened_by(self, vault_id: str, key: bytes) -> bool:
        """Return whether a key opens a vault, which this process does not have open."""
        return self._of(vault_id).is_opened_by(vault_id, key)

    def settle(self, vault_id: str, new_key: bytes, remove: Callable[[], None]) -> bool:
        """Wait for the end of a rewrite, and return whether the vault has the new key; else run `remove`."""
        return self._of(vault_id).settle(vault_id, new_key, remove)

    def room_for(self, vault_id: str) -> int:
        """Return how many bytes a rewrite needs on the disk of the home."""
        return self._of(vault_id).room_for(vault_id)

    def copies(self, vault_id: str) -> list[Path]:
        """Return the copies of a vault in the home that only its key opens."""
        return self._files.copies(vault_id)

    def rewrite_copy(self, copy: Path, key: bytes, new_key: bytes, progress: Progress) -> None:
        """Rewrite such a copy under another key, in one step."""
        self._files.rewrite_copy(copy, key, new_key, progress)
