"""Opens and closes vaults as a whole: database, clock, vectors, caches and deferred writes share one lifetime."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager, suppress
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, HomeError, KeyProblem, StorageError
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import vault_marks
from recollectum.vault.clock import VaultClock
from recollectum.vault.files.crawl_cache import RefreshThrottle

if TYPE_CHECKING:
    from recollectum.recall.archive import ArchiveCache
    from recollectum.recall.vectors.vector_search import VectorSearch
    from recollectum.vault.deferred.renewals import Renewals
    from recollectum.vault.deferred.served import UnsavedTexts

T = TypeVar("T")

#: How many lists are cached; the oldest is dropped first.
_MOST = 16


class SessionCache:
    """The cached session lists of one vault, each valid for one state of the vault."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: dict[Hashable, tuple[Hashable, float, list[Session]]] = {}
        self._lock = threading.Lock()

    def find(
        self, asked: Hashable, state: Hashable, seconds: float, load: Callable[[], list[Session]]
    ) -> list[Session]:
        """Return the list for a query in that state of the vault; load it when it is not cached."""
        if seconds <= 0:
            return load()
        with self._lock:
            self._drop_old(seconds)
            found = self._kept.get(asked)
        if found is None or found[0] != state:
            loaded = load()
            with self._lock:
                self._kept.pop(asked, None)
                self._kept[asked] = found = (state, self._now(), loaded)
                while len(self._kept) > _MOST:
                    del self._kept[next(iter(self._kept))]
        # A copy, so that the caller may change its list.
        return list(found[2])

    def clear(self) -> None:
        """Drop all lists, so that destroyed rows are not even in memory."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        """Return how many lists are cached."""
        return len(self._kept)

    def _drop_old(self, seconds: float) -> None:
        oldest = self._now() - seconds
        self._kept = {asked: kept for asked, kept in self._kept.items() if kept[1] > oldest}


#: After so many writes the mark is stored while the vault stays open.
EVERY = 64


class MarkKeeper:
    """Keeps the high-water mark of one open vault in the catalog, by which an older file is noticed.

    It is stored when a vault that was written is closed, and after every few writes in between. So what was written in
    a process that has ended is always covered; of a process that was killed, at most the last few writes are not, nor
    are the texts that wait for the index.
    """

    def __init__(self, catalog: Database, vault_id: str, database: Database) -> None:
        self._catalog = catalog
        self._vault_id = vault_id
        self._database = database
        self._unmarked = 0
        self._lock = threading.Lock()

    def check(self, owner: Owner) -> None:
        """Raise `Damaged` once when the file is older than last seen; opening it again goes on with it."""
        seen = self._catalog.read(lambda tx: vault_marks.find(tx, self._vault_id))
        if seen is None:
            return
        found = self._database.read(vault_marks.of_vault)
        missing = seen.lacking(found)
        if missing is None:
            return
        self._catalog.write(lambda tx: vault_marks.go_back(tx, self._vault_id, found, missing))
        raise Damaged(
            f"the vault of {owner} is older than last seen ({missing.events} events and {missing.texts} pieces of text "
            "are missing): an old file was put back, or writes were lost. Put the newer file back or restore a backup; "
            "opening it again continues with the older file, and `recollectum doctor` keeps reporting it"
        )

    def count(self) -> None:
        """Count one write, and store the mark when there were enough."""
        with self._lock:
            self._unmarked += 1
            due = self._unmarked >= EVERY
            if due:
                self._unmarked = 0
        if due:
            self._store()

    def close(self) -> None:
        """Store the mark, if the vault was written."""
        with self._lock:
            due, self._unmarked = self._unmarked > 0, 0
        if due:
            self._store()

    def _store(self) -> None:
        # A disk that takes no writes must not make a finished write fail; the mark follows with the next one.
        with suppress(StorageError, KeyProblem, HomeError, OSError):
            mark = self._database.read(vault_marks.of_vault)
            self._catalog.write(lambda tx: vault_marks.advance(tx, self._vault_id, mark))


def _new_archive() -> "ArchiveCache":
    # Imported here: the import of Recollectum is measured, and opens no vault.
    from recollectum.recall.archive import ArchiveCache  # noqa: PLC0415

    return ArchiveCache()


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class OpenVault:
    """One open vault: its database and everything that this process holds of it in memory."""

    database: Database
    clock: VaultClock
    vectors: "VectorSearch"
    session_cache: SessionCache
    throttle: RefreshThrottle
    renewals: "Renewals"
    served: "UnsavedTexts"
    archive: "ArchiveCache" = field(default_factory=_new_archive)
    #: Keeps the high-water mark in the catalog; None for a vault without a home.
    mark: MarkKeeper | None = None

    @property
    def held_bytes(self) -> int:
        """Return how many bytes the vectors and the text index take in memory."""
        return self.vectors.held_bytes + self.database.held_bytes

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction."""
        done = self.database.write(work, frees=frees)
        if self.mark:
            self.mark.count()
        return done

    def write_due(self) -> None:
        """Write what reads deferred, where it is old or large enough."""
        if self.renewals.is_due:
            self.renewals.write(self.database, self.clock)
        if self.served.is_due:
            self.served.write(self.database, self.clock)

    def write_deferred(self) -> None:
        """Write all that reads deferred, and index the texts that wait, so that they are in the vault's mark."""
        # Imported here: the import of Recollectum is measured, and opens no vault.
        from recollectum.recall.index import waiting  # noqa: PLC0415

        # A disk that takes no writes must not keep a vault open, and neither must another host that has erased it; the
        # next search indexes them.
        with suppress(StorageError, KeyProblem):
            waiting.index_all(self.database)
        self.renewals.write(self.database, self.clock)
        self.served.write(self.database, self.clock)

    def close(self) -> None:
        """Stop the background work, write what was deferred, then close the file; a second call does nothing."""
        self.vectors.close()
        self.write_deferred()
        if self.mark:
            self.mark.close()
        self.database.close()


@dataclass(slots=True, eq=False)
class _Slot:
    """The slot of one vault in the cache: the vault once it is open, and its number of users."""

    id: str
    vault: OpenVault | None = None
    users: int = 0
    #: The bytes that were counted for it.
    held: int = 0
    #: Whether it was removed from the cache.
    discarded: bool = False
    #: Whether it was removed while it was being opened: its last user then closes it.
    orphaned: bool = False
    opening: threading.Lock = field(default_factory=threading.Lock)

    def discard(self) -> None:
        self.discarded, self.orphaned = True, self.vault is None


class OpenVaults:
    """The cache of vaults that one process has open.

    A vault is in use while an operation or a background thread works with it, and is not closed until they are done.
    When more vaults are in use than the limits allow, they stay open until one of them is free.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        #: Vaults that are being closed; a caller that needs a file to be closed waits for them.
        self._closing: list[str] = []
        self._held = 0
        self._lock = threading.Condition()
        self._closed = False

    @contextmanager
    def use(self, vault_id: str, opening: Callable[[], OpenVault]) -> Generator[OpenVault]:
        """Yield the open vault, which stays open at least until the end of the block."""
        slot = self._enter(vault_id)
        try:
            yield slot.vault or self._open(slot, opening)
        finally:
            self._leave(slot)

    def trim(self) -> None:
        """Close the least recently used vaults beyond the limits that are not in use."""
        with self._lock:
            surplus = self._take_surplus()
        self._close(surplus)

    def discard(self, vault_id: str) -> None:
        """Close one vault, after its running transactions are done."""
        with self._lock:
            self._lock.wait_for(lambda: vault_id not in self._closing)
            slot = self._slots.pop(vault_id, None)
            if slot:
                self._held -= slot.held
                slot.discard()
        if slot and not slot.orphaned and slot.vault:
            slot.vault.close()

    def close(self) -> None:
        """Close every vault for good."""
        with self._lock:
            self._closed = True
            slots = list(self._slots.values())
            self._slots.clear()
            for slot in slots:
                slot.discard()
        for slot in slots:
            if not slot.orphaned and slot.vault:
                slot.vault.close()

    def _enter(self, vault_id: str) -> _Slot:
        with self._lock:
            if self._closed:
                raise StorageError("this home was closed; open it again")
            slot = self._slots.get(vault_id)
            if slot is None:
                slot = self._slots[vault_id] = _Slot(vault_id)
            self._slots.move_to_end(vault_id)
            slot.users += 1
            surplus = self._take_surplus()
        self._close(surplus)
        return slot

    def _leave(self, slot: _Slot) -> None:
        with self._lock:
            slot.users -= 1
            if slot.vault and not slot.discarded:
                held = slot.vault.held_bytes
                self._held += held - slot.held
                slot.held = held
            elif not slot.users and not slot.discarded:
                # It could not be opened.
                del self._slots[slot.id]
            left_open = slot.vault if slot.orphaned and not slot.users else None
            surplus = self._take_surplus()
        if left_open:
            left_open.close()
        self._close(surplus)

    def _open(self, slot: _Slot, opening: Callable[[], OpenVault]) -> OpenVault:
        # Each slot has a lock: a vault that opens slowly, because of a migration, must not block others.
        with slot.opening:
            if slot.vault is None:
                slot.vault = opening()
            return slot.vault

    def _is_over(self) -> bool:
        return len(self._slots) > self._most or self._held > self._most_bytes

    def _take_surplus(self) -> list[_Slot]:
        """Remove from the cache what must be closed. The last used vault stays, however large it is."""
        taken: list[_Slot] = []
        if not self._is_over():
            return taken
        for slot in list(self._slots.values())[:-1]:
            if slot.users:
                continue
            if slot.vault and slot.vault.vectors.is_busy:
                # The background work ends after its step, and calls `trim`.
                slot.vault.vectors.stop_soon()
                continue
            del self._slots[slot.id]
            self._held -= slot.held
            self._closing.append(slot.id)
            taken.append(slot)
            if not self._is_over():
                break
        return taken

    def _close(self, slots: list[_Slot]) -> None:
        """Close vaults that were removed from the cache; without the lock, because closing a file is slow."""
        for slot in slots:
            try:
                if slot.vault:
                    slot.vault.close()
            finally:
                with self._lock:
                    self._closing.remove(slot.id)
                    self._lock.notify_all()


class VaultHandle:
    """One vault of the cache, and its database; see `storage.port.Database`. It reopens after it was closed."""

    def __init__(self, cache: OpenVaults, vault_id: str, opening: Callable[[], OpenVault]) -> None:
        self._cache = cache
        self.id = vault_id
        self._opening = opening

    @contextmanager
    def use(self) -> Generator[OpenVault]:
        """Yield the open vault, which stays open at least until the end of the block."""
        with self._cache.use(self.id, self._opening) as opened:
            yield opened

    @property
    def held_bytes(self) -> int:
        """Return how many bytes this process keeps in memory for the index."""
        with self._cache.use(self.id, self._opening) as opened:
            return opened.database.held_bytes

    def read(self, work: Callable[[Tx], T], *, on_replica: bool = False) -> T:
        """Run `work` in one snapshot."""
        with self._cache.use(self.id, self._opening) as opened:
            return opened.database.read(work, on_replica=on_replica)

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction."""
        with self._cache.use(self.id, self._opening) as opened:
            return opened.write(work, frees=frees)

    def claim(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one durable transaction: a vault has one writer at a time."""
        return self.write(work)

    def erase_remains(self) -> bool:
        """Overwrite the remains of deleted rows."""
        with self._cache.use(self.id, self._opening) as opened:
            return opened.database.erase_remains()

    def close(self) -> None:
        """Do nothing: the cache closes what it opened."""


def handle_of(opened: OpenVault, vault_id: str) -> VaultHandle:
    """Return a handle for a vault that is open already and that its opener closes."""
    return VaultHandle(OpenVaults(1, 0), vault_id, lambda: opened)
