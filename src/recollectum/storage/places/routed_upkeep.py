"""Copies, verifies, repairs and restores each vault where it is, while the vaults of a home are in two places."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.storage.engine import (
    ChunkTerms,
    Engine,
    EngineUpkeep,
    Inspection,
    Progress,
    SalvagedVault,
    VaultCopy,
    VaultRewriting,
)
from recollectum.storage.port import Tx


class RoutedUpkeep:
    """The vaults of one home in two places; see `storage.engine.EngineUpkeep`."""

    def __init__(self, main: Engine, other: Engine, files: Engine, engine_of: Callable[[str], Engine]) -> None:
        self._both = main, other
        self._files_engine = files
        #: That of the catalog.
        self._main = main.upkeep
        self._files = files.upkeep
        #: Returns the engine that has a vault.
        self._engine_of = engine_of

    def _of(self, vault_id: str) -> EngineUpkeep:
        return self._engine_of(vault_id).upkeep

    @property
    def rewriting(self) -> VaultRewriting:
        """Return the object that rewrites each vault under another key where it is."""
        # Imported here: few homes change a key.
        from recollectum.storage.places.routed_rewriting import RoutedRewriting  # noqa: PLC0415

        return RoutedRewriting(self._both, self._files_engine, self._engine_of)

    def copy_catalog(self, folder: Path, key: bytes | None, progress: Progress) -> VaultCopy:
        """Copy the catalog into the folder of a backup."""
        return self._main.copy_catalog(folder, key, progress)

    def copy_vault(
        self, folder: Path, vault_id: str, key: bytes | None, terms: ChunkTerms, progress: Progress
    ) -> VaultCopy:
        """Copy a snapshot of a vault into an ordinary vault file."""
        return self._of(vault_id).copy_vault(folder, vault_id, key, terms, progress)

    def put_vault(
        self, vault_id: str, key: bytes | None, copy: Path, copy_key: bytes | None, terms: ChunkTerms
    ) -> None:
        """Replace the content of a vault, or of the catalog, by that of a copy, where it is."""
        self._of(vault_id).put_vault(vault_id, key, copy, copy_key, terms)

    def in_the_way(self, names: Sequence[str]) -> list[Path]:
        """Return the names in the home that these copies would overwrite."""
        return self._main.in_the_way(names)

    def put_home(
        self, folder: Path, names: Sequence[str], keys: Mapping[str, bytes | None], terms: ChunkTerms, now: datetime
    ) -> list[Path]:
        """Create the home from the copies in a folder, all vaults beside the catalog."""
        return self._main.put_home(folder, names, keys, terms, now)

    def set_aside(self, vault_id: str, now: datetime) -> Path | None:
        """Move a vault that cannot be read into the backups; return its new path."""
        return self._of(vault_id).set_aside(vault_id, now)

    def inspect(self, vault_id: str, key: bytes | None) -> AbstractContextManager[Inspection]:
        """Open one vault for inspection, without changing it."""
        return self._of(vault_id).inspect(vault_id, key)

    def base_faults(self, key: bytes | None) -> list[str]:
        """Read the catalog and the wrapped keys, and return the faults."""
        return self._main.base_faults(key)

    def repair_vault(
        self,
        vault_id: str,
        owner: Owner,
        key: bytes | None,
        *,
        release: Callable[[], bool],
        rebuild: Callable[[Tx], int],
    ) -> SalvagedVault:
        """Save every readable row of a damaged vault into a new one."""
        return self._of(vault_id).repair_vault(vault_id, owner, key, release=release, rebuild=rebuild)

    def long_logs(self, most: int) -> list[tuple[str, int]]:
        """Return the name and size of each file's write-ahead log that is larger than `most` bytes."""
        return self._files.long_logs(most)

    def names_of_others(self, vault_ids: Collection[str]) -> list[str]:
        """Return the prefixes, from the home, of all other vaults' file names."""
        return self._files.names_of_others(vault_ids)
