"""Defines what the rest of Recollectum asks of an engine: the home of a catalog and its vaults."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.storage.port import Database, Tx

T = TypeVar("T")
#: The kinds of databases, each with schema steps of its own; the catalog has its key under the same name.
CATALOG = "catalog"
VAULT = "vault"
#: Called with the number of pages that were copied since the last call.
Progress = Callable[[int], None]
#: Ends a write mark that is so young that what was written may not be visible yet.
UNSETTLED = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultPlace:
    """Where a vault is, in words for people, how many bytes it takes, and when it was last written."""

    words: str
    bytes: int
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SalvageCounts:
    """What became of the rows of one table."""

    table: str
    saved: int
    #: Rows that were there and cannot be read, or were read and cannot be right.
    lost: int
    #: False where no index was left to count by: then at least so many were lost.
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SalvagedVault:
    """What a repair made of a damaged vault."""

    tables: tuple[SalvageCounts, ...]
    #: By table: rows that were read but belonged to one that is lost.
    dropped: Mapping[str, int]
    #: Sessions that stand in for lost ones, so that their messages can still be read.
    stand_ins: int
    #: Chunks of the index that were made again.
    pieces: int
    #: The tables and ids of rows that were saved, but are not as they were written.
    doubtful: tuple[str, ...]
    #: Where the damaged vault is kept.
    evidence: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultCopy:
    """A copy of one database in the folder of a backup, as it was made."""

    #: From the folder, with forward slashes.
    file: str
    schema: int
    #: By table.
    rows: Mapping[str, int]


class Inspection(Protocol):
    """A database that is opened to be looked at: nothing in it is changed or upgraded."""

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one snapshot."""
        ...

    def owner(self) -> str | None:
        """Whose vault it says it is."""
        ...

    def faults(self) -> list[str]:
        """What a reading of every page and row finds wrong."""
        ...

    def pending_steps(self) -> tuple[str, ...]:
        """The schema steps that opening it would run."""
        ...

    def row_counts(self) -> dict[str, int]:
        """How many rows each table has, whatever its schema."""
        ...


class EngineUpkeep(Protocol):
    """Copies, verifies, repairs and puts back the databases of one home."""

    def copy_catalog(self, folder: Path, key: bytes | None, progress: Progress) -> VaultCopy:
        """Copy the catalog, which may be in use, into the folder of a backup."""
        ...

    def copy_keys(self, folder: Path, vault_ids: Collection[str]) -> VaultCopy:
        """Copy the wrapped keys of these vaults alone."""
        ...

    def copy_vault(self, folder: Path, vault_id: str, key: bytes | None, progress: Progress) -> VaultCopy:
        """Copy a vault, which may be in use, as it is at one moment."""
        ...

    def put_vault(self, vault_id: str, key: bytes | None, copy: Path, copy_key: bytes | None) -> None:
        """Let a vault hold what a copy holds, in one transaction; a vault that is not there is made."""
        ...

    def in_the_way(self, names: Sequence[str]) -> list[Path]:
        """What is in the home under the name of one of these copies."""
        ...

    def put_home(self, folder: Path, names: Sequence[str], now: datetime) -> list[Path]:
        """Make the home of the copies in a folder, the catalog last; where what was there is kept."""
        ...

    def set_aside(self, vault_id: str, now: datetime) -> Path | None:
        """Move a vault that cannot be read, or what is left of it, into the backups; where it is now."""
        ...

    def inspect(self, vault_id: str, key: bytes | None) -> AbstractContextManager[Inspection]:
        """Look at one vault without changing it."""
        ...

    def base_faults(self, key: bytes | None) -> list[str]:
        """What is wrong with the catalog and the wrapped keys, read to the last page."""
        ...

    def repair_vault(
        self,
        vault_id: str,
        owner: Owner,
        key: bytes | None,
        *,
        release: Callable[[], bool],
        rebuild: Callable[[Tx], int],
    ) -> SalvagedVault:
        """Save every readable row of a damaged vault into a new one, and keep the old one as evidence.

        `release` closes the vault here and says whether nobody else has it open; `rebuild` makes the index again.
        """
        ...

    def long_logs(self, most: int) -> list[tuple[str, int]]:
        """The name of each database whose write-ahead log has more than so many bytes, and how many."""
        ...

    def names_of_others(self, vault_ids: Collection[str]) -> list[str]:
        """How the names of the files of all other vaults begin, from the home: a search of the home leaves them out."""
        ...


class Engine(Protocol):
    """Keeps the catalog and the vaults of one home."""

    @property
    def upkeep(self) -> EngineUpkeep:
        """What copies, verifies and repairs."""
        ...

    def is_made(self) -> bool:
        """Whether there is a catalog; one whose creation was cut short is none."""
        ...

    def with_room(self, opening: Callable[[], T]) -> T:
        """What `opening` opens; on a full disk the reserve is given up for it."""
        ...

    def create_catalog(self, key: bytes | None) -> Database:
        """A new catalog, or one whose creation was cut short; never a second one for vaults that have lost theirs."""
        ...

    def open_catalog(self, key: bytes | None) -> Database:
        """The catalog that is there, at this program's schema."""
        ...

    def create_vault(self, vault_id: str, owner: Owner, key: bytes | None) -> None:
        """A new vault, which says itself whose it is."""
        ...

    def open_vault(self, vault_id: str, owner: Owner, key: bytes | None) -> Database:
        """A vault that must be there and be this owner's, at this program's schema."""
        ...

    def pending_steps(self, vault_id: str, key: bytes | None) -> tuple[str, ...]:
        """The schema steps that opening a vault would run; nothing is changed."""
        ...

    def vault_ids(self) -> list[str]:
        """Every vault that is there, also those that the catalog does not know."""
        ...

    def place_of(self, vault_id: str) -> VaultPlace | None:
        """Where a vault is; None when it is not there."""
        ...

    def is_unused(self, vault_id: str, key: bytes | None) -> bool:
        """Whether nobody has a vault open; the caller has closed it."""
        ...

    def destroy_vault(self, vault_id: str) -> None:
        """Delete a vault, where it is there."""
        ...

    def write_marks(self, vault_ids: Iterable[str], settling: timedelta) -> dict[str, str]:
        """A mark of each vault: as long as it is the same, and does not end in `UNSETTLED`, nobody wrote to the vault.

        `settling` is how long a write may take from its first byte to the moment when others see it.
        """
        ...
