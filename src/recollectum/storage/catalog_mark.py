"""Keeps the high-water mark of the catalog in a file beside it, by which an older catalog is noticed.

The catalog counts its changes; after each one the number is stored in the file. A crash between the two lets the mark
lag behind, and it never runs ahead. It is not in keys.db, because that file is put back together with the catalog.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from threading import Lock as ThreadLock
from typing import NamedTuple, TypeVar, cast

from recollectum.domain.errors import Damaged, HomeError, InvalidInput, StorageError
from recollectum.home.files import read_regular, write_atomic
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import catalog_changes

T = TypeVar("T")
_MOST_BYTES = 4096
#: How long a finished change waits for the mark; without it the mark lags behind until the next change.
_WAIT = timedelta(seconds=2)


class CatalogMark(NamedTuple):
    """How many changes of the catalog were seen."""

    changes: int
    #: The number of changes of an older catalog that was refused; the next time it is opened.
    refused: int | None = None


class CatalogMarkFile:
    """The file that stores the mark of one home."""

    def __init__(self, home: Home) -> None:
        self._path = home.catalog_mark_file
        self._lock_file = home.locks / "catalog-mark.lock"

    def read(self) -> CatalogMark | None:
        """Return the mark, or None when there is none that can be read."""
        try:
            found: object = json.loads(read_regular(self._path, _MOST_BYTES))
        except (OSError, ValueError, InvalidInput):
            return None
        fields = cast("dict[str, object]", found) if isinstance(found, dict) else {}
        changes, refused = fields.get("changes"), fields.get("refused")
        if not isinstance(changes, int) or not isinstance(refused, int | None):
            return None
        return CatalogMark(changes, refused)

    def change(self, change: Callable[[CatalogMark], CatalogMark]) -> None:
        """Change the mark, one process at a time; a disk that takes no writes leaves it as it is."""
        with suppress(StorageError, HomeError, OSError), Lock(self._lock_file, timeout=_WAIT):
            found = self.read()
            new = change(found or CatalogMark(0))
            if new != found:
                write_atomic(self._path, json.dumps(new._asdict()).encode() + b"\n")

    def forget(self) -> None:
        """Delete the mark: the catalog is replaced on purpose."""
        self._path.unlink(missing_ok=True)


class CountedCatalog:
    """The catalog of an open home, which counts its changes; see `storage.port.Database`."""

    def __init__(self, database: Database, mark: CatalogMarkFile, place: str) -> None:
        #: For rows that say nothing about people, keys and vaults and are written often: nothing is counted.
        self.uncounted = database
        self._mark = mark
        self._place = place
        self._stored = 0
        self._lock = ThreadLock()

    def check(self) -> None:
        """Raise `Damaged` once when the catalog is older than last seen; opening it again goes on with it."""
        # The mark first: what another process changes in between is then in the catalog, and not in the mark.
        seen = self._mark.read()
        made = self.uncounted.read(catalog_changes.find)
        if seen is None or seen.refused is not None or made < seen.changes:
            self._compare(seen or CatalogMark(0), made)

    def _compare(self, seen: CatalogMark, made: int) -> None:
        if made >= seen.changes:
            # The newer file was put back, or there was no mark.
            self._advance(made)
            return
        if seen.refused != made:
            self._mark.change(lambda mark: mark._replace(refused=made))
            raise Damaged(
                f"{self._place} is older than last seen ({seen.changes - made} changes of people, keys, grants or "
                "vaults are missing): an old file was put back, or writes were lost. A revoked key could work again, "
                "and an erased person be back. Put the newer file back now, or restore a backup; opening it again goes "
                "on with the older one, but accepts no API key before `recollectum doctor --fix`"
            )
        self.uncounted.write(lambda tx: catalog_changes.go_on(tx, seen.changes))
        self._advance(seen.changes)

    @property
    def held_bytes(self) -> int:
        """Return how many bytes this process keeps in memory for the index."""
        return self.uncounted.held_bytes

    def read(self, work: Callable[[Tx], T], *, on_replica: bool = False) -> T:
        """Run `work` in one snapshot."""
        return self.uncounted.read(work, on_replica=on_replica)

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction, count it, and store the mark."""
        done, made = self.uncounted.write(lambda tx: (work(tx), catalog_changes.count(tx)), frees=frees)
        self._advance(made)
        return done

    def claim(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one durable transaction beside other writers, and count nothing."""
        return self.uncounted.claim(work)

    def erase_remains(self) -> bool:
        """Overwrite the remains of deleted rows."""
        return self.uncounted.erase_remains()

    def close(self) -> None:
        """Close the database."""
        self.uncounted.close()

    def _advance(self, made: int) -> None:
        with self._lock:
            if made > self._stored:
                self._mark.change(lambda mark: CatalogMark(max(mark.changes, made)))
                self._stored = made
