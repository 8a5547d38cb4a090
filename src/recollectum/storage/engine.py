"""Defines what the rest of Recollectum asks of an engine: the home of a catalog and its vaults."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.domain.records import dataclass
from recollectum.domain.telemetry.figure import Figure
from recollectum.domain.telemetry.spans import Spans
from recollectum.storage.port import Database, Tx

T = TypeVar("T")
#: The kinds of databases. Each has its own schema steps; the catalog's key is stored under the same name.
CATALOG = "catalog"
VAULT = "vault"
#: Called with the number of pages that were copied since the last call.
Progress = Callable[[int], None]
#: Returns the number and the search terms of each chunk, which a text index is made from.
ChunkTerms = Callable[[Tx], Iterable[tuple[int, str]]]
#: The last character of a write mark that is so recent that its write may not be visible yet.
UNSETTLED = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultPlace:
    """The location of a vault in words for people, its size in bytes, and the time of its last write."""

    words: str
    bytes: int
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SalvageCounts:
    """The numbers of saved and lost rows of one table."""

    table: str
    saved: int
    #: Rows that existed and cannot be read, or were read and cannot be right.
    lost: int
    #: False when no index was left to count by; `lost` is then a lower bound.
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SalvagedVault:
    """The result of repairing a damaged vault."""

    tables: tuple[SalvageCounts, ...]
    #: By table: rows that were read, but whose parent row is lost.
    dropped: Mapping[str, int]
    #: Sessions created in place of lost ones, so that their messages can still be read.
    stand_ins: int
    #: Chunks of the index that were rebuilt.
    pieces: int
    #: The tables and ids of rows that were saved, but differ from what was written.
    doubtful: tuple[str, ...]
    #: The path of the damaged vault, which is kept.
    evidence: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultCopy:
    """A copy of one database in the folder of a backup."""

    #: The path from the folder, with forward slashes.
    file: str
    schema: int
    #: The number of rows by table.
    rows: Mapping[str, int]


class Inspection(Protocol):
    """A database that is opened read-only; nothing in it is changed or migrated."""

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one snapshot."""
        ...

    def owner(self) -> str | None:
        """Return the owner that the vault names."""
        ...

    def faults(self) -> list[str]:
        """Read every page and row, and return the faults."""
        ...

    def index_faults(self) -> list[str]:
        """Compare the indexes of everything that is remembered with their tables, and return the faults."""
        ...

    def pending_steps(self) -> tuple[str, ...]:
        """Return the schema steps that opening the vault would run."""
        ...

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of each table, whatever the schema."""
        ...


class VaultRewriting(Protocol):
    """Rewrites the vaults of one home under other keys."""

    def rewrite(
        self, vault_id: str, key: bytes, new_key: bytes, progress: Progress, check: Callable[[], None] = lambda: None
    ) -> None:
        """Rewrite a vault under another key, in one step; as a file it is one that nobody has open.

        `check` is called when `settle` cannot run any more, and raises if it has deleted the new key.
        """
        ...

    def is_opened_by(self, vault_id: str, key: bytes) -> bool:
        """Return whether a key opens a vault, which this process does not have open."""
        ...

    def settle(self, vault_id: str, new_key: bytes, remove: Callable[[], None]) -> bool:
        """Wait for the end of a rewrite, and return whether the vault has the new key.

        If it has not, run `remove`, which deletes the new key, while nobody can rewrite the vault; what an interrupted
        rewrite left is deleted too.
        """
        ...

    def room_for(self, vault_id: str) -> int:
        """Return how many bytes a rewrite needs on the disk of the home."""
        ...

    def copies(self, vault_id: str) -> list[Path]:
        """Return the copies of a vault in the home that only its key opens; backups have keys with them."""
        ...

    def rewrite_copy(self, copy: Path, key: bytes, new_key: bytes, progress: Progress) -> None:
        """Rewrite such a copy under another key, in one step; do nothing when the old key does not open it."""
        ...


class EngineUpkeep(Protocol):
    """Copies, verifies, repairs and restores the databases of one home."""

    @property
    def rewriting(self) -> VaultRewriting:
        """Return the object that rewrites vaults under other keys."""
        ...

    def copy_catalog(self, folder: Path, key: bytes | None, progress: Progress) -> VaultCopy:
        """Copy the catalog, which may be in use, into the folder of a backup."""
        ...

    def copy_vault(
        self, folder: Path, vault_id: str, key: bytes | None, terms: ChunkTerms, progress: Progress
    ) -> VaultCopy:
        """Copy a snapshot of a vault, which may be in use, into an ordinary vault file."""
        ...

    def put_vault(
        self, vault_id: str, key: bytes | None, copy: Path, copy_key: bytes | None, terms: ChunkTerms
    ) -> None:
        """Replace the content of a vault, or of the `CATALOG`, by that of a copy, in one transaction.

        A missing vault is created.
        """
        ...

    def in_the_way(self, names: Sequence[str]) -> list[Path]:
        """Return the names in the home that these copies would overwrite."""
        ...

    def put_home(
        self, folder: Path, names: Sequence[str], keys: Mapping[str, bytes | None], terms: ChunkTerms, now: datetime
    ) -> list[Path]:
        """Create the home from the copies in a folder, the catalog last; return where the previous files are kept.

        `keys` has the keys of the catalog and of each vault by their ids, under which the copies are encrypted.
        """
        ...

    def set_aside(self, vault_id: str, now: datetime) -> Path | None:
        """Move a vault that cannot be read, or its remains, into the backups; return its new path."""
        ...

    def inspect(self, vault_id: str, key: bytes | None) -> AbstractContextManager[Inspection]:
        """Open one vault for inspection, without changing it."""
        ...

    def base_faults(self, key: bytes | None) -> list[str]:
        """Read the catalog and the wrapped keys to the last page, and return the faults."""
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

        `release` closes the vault in this process and returns whether no other process has it open; `rebuild` rebuilds
        the index.
        """
        ...

    def long_logs(self, most: int) -> list[tuple[str, int]]:
        """Return the name and size of each database's write-ahead log that is larger than `most` bytes."""
        ...

    def names_of_others(self, vault_ids: Collection[str]) -> list[str]:
        """Return the prefixes, from the home, of all other vaults' file names; a search of the home skips them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFinding:
    """One thing that was looked at in a database server, in plain words, and what to do about it."""

    topic: str
    severity: Literal["fine", "note", "warning", "problem"]
    words: str
    cure: str | None = None


class DatabaseServer(Protocol):
    """The server that keeps the databases of a home, as an operator looks at it."""

    def findings(self) -> list[ServerFinding]:
        """Check the server, the rights and the schema."""
        ...

    def figures(self) -> list[Figure]:
        """Return the numbers of the connections of this process; nothing is asked of the server."""
        ...

    def trace(self, spans: Spans) -> None:
        """Measure each transaction from now on."""
        ...


class Engine(Protocol):
    """Keeps the catalog and the vaults of one home."""

    @property
    def upkeep(self) -> EngineUpkeep:
        """Return the object that copies, verifies and repairs databases."""
        ...

    @property
    def server(self) -> DatabaseServer | None:
        """Return the server of the databases; None where they are files."""
        ...

    @property
    def place_of_catalog(self) -> str:
        """Return the location of the catalog in words, whether or not it exists."""
        ...

    @property
    def place_of_server(self) -> str | None:
        """Return the address of the server that has vaults of this home, without its password; None for files."""
        ...

    @property
    def counts_writes(self) -> bool:
        """Return whether the catalog knows the write marks of the vaults, so that statements need not be given any."""
        ...

    def is_made(self) -> bool:
        """Return whether the catalog exists; a half-created one does not count."""
        ...

    def with_room(self, opening: Callable[[], T]) -> T:
        """Return the result of `opening`; on a full disk, free the reserve for it first."""
        ...

    def create_catalog(self, key: bytes | None) -> Database:
        """Create the catalog, or finish one that was half created; refuse if vaults exist whose catalog is lost."""
        ...

    def open_catalog(self, key: bytes | None) -> Database:
        """Return the existing catalog, at this program's schema."""
        ...

    def create_vault(self, vault_id: str, owner: Owner, key: bytes | None, meta: Mapping[str, str]) -> None:
        """Create a vault that records its owner, with these first rows of its meta table."""
        ...

    def open_vault(
        self, vault_id: str, owner: Owner, key: bytes | None, renew: Callable[[], bytes] | None = None
    ) -> Database:
        """Open an existing vault of this owner, at this program's schema.

        Where a vault may get a new key while it is open, `renew` is asked for the present one.
        """
        ...

    def pending_steps(self, vault_id: str, key: bytes | None) -> tuple[str, ...]:
        """Return the schema steps that opening a vault would run, without changing anything."""
        ...

    def vault_ids(self) -> list[str]:
        """Return the ids of all existing vaults, also of those that the catalog does not list."""
        ...

    def place_of(self, vault_id: str) -> VaultPlace | None:
        """Return the location of a vault, or None when it does not exist."""
        ...

    def is_unused(self, vault_id: str, key: bytes | None) -> bool:
        """Return whether no other process has a vault, or the `CATALOG`, open; the caller has closed it."""
        ...

    def destroy_vault(self, vault_id: str, destroy_key: Callable[[], object] = lambda: None) -> None:
        """Delete a vault, if it exists.

        `destroy_key` is called first, when nobody who has the key in memory can begin a transaction with it any more.
        """
        ...

    def write_marks(self, vault_ids: Iterable[str], settling: timedelta) -> dict[str, str]:
        """Return a mark for each vault; while it is equal and does not end in `UNSETTLED`, nothing was written.

        `settling` is how long a write may take from its first byte until others can see it.
        """
        ...
