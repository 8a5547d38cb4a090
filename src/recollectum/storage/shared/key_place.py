"""Defines where the wrapped keys of a home are: in a file of the home, or in a database that its hosts share."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from recollectum.home.locks import Lock
from recollectum.storage.engine import ServerFinding, VaultCopy
from recollectum.storage.port import Database, Tx
from recollectum.storage.shared.shared_lock import SharedLock

T = TypeVar("T")
#: The lock of one change of keys at a time; what replaces a vault takes it too.
CHANGES = "rekey"
#: The lock of one creation of the keys, or one change of holder, at a time.
HOLDERS = "keys"


class KeyPlace(Protocol):
    """The tables of keys of one home; see `storage.key_tables`."""

    @property
    def words(self) -> str:
        """Return the location for people."""
        ...

    @property
    def name(self) -> str:
        """Return what people restore when it is lost."""
        ...

    @property
    def host(self) -> str:
        """Return the id of this host among those that use the same keys; empty where there are no others."""
        ...

    @property
    def is_shared(self) -> bool:
        """Return whether other hosts use the same keys, each with its own way to the master key."""
        ...

    @property
    def is_open(self) -> bool:
        """Return whether there are keys that can be read now."""
        ...

    def open(self) -> bool:
        """Open the tables; return False when there are none, or none that anybody has begun to fill."""
        ...

    def create(self) -> None:
        """Create the tables, or open those that are half created; refuse where encrypted vaults lost their keys."""
        ...

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one snapshot."""
        ...

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction; `frees` means that it frees space on a full disk."""
        ...

    def empty_log(self, done: str) -> None:
        """Overwrite what was deleted, where that is ours to do; raise with what was done if others prevent it."""
        ...

    def lock(self, name: str) -> "Lock | SharedLock":
        """Return a lock between all processes that use these keys."""
        ...

    def copy(self, folder: Path, names: Collection[str]) -> VaultCopy:
        """Copy the keys of these names, and no others, into a file keys.db in the folder of a backup."""
        ...

    def findings(self) -> list[ServerFinding]:
        """Check the server of the keys, for an operator."""
        ...

    def ledger(self, key: bytes | None) -> AbstractContextManager[Database] | None:
        """Open the erasure ledger that is kept with the keys, under the key of the catalog; None for a file."""
        ...

    def close(self) -> None:
        """Close every connection; calling it again does nothing."""
        ...
