"""Moves the catalog of a home to another place while programs use it.

1. The catalog of the new place is marked as one that is being copied, and the rows are copied while others write.
2. Under the writer's lock of the old place it is marked as left, and the rows that differ are copied and committed in
   the new one; then the transaction that holds the lock is committed.
3. The mark of the new place is taken away, by this program or by the first one that meets the mark of the old place.

At every moment at most one place has a catalog without a mark. A program that was killed before the mark of the old
place has changed nothing; after one that is killed later the next program goes on: see `catalog_finding`.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

from recollectum.domain.errors import StorageError
from recollectum.domain.records import dataclass
from recollectum.storage.copying.row_changes import bring_up_to_date, read_digests
from recollectum.storage.copying.row_copier import CopiedTable, check_equal, clear_rows, copy_rows, digest_rows
from recollectum.storage.places.catalog_state import CatalogPlace, CatalogState
from recollectum.storage.places.vault_move import NOT_ROWS, Moves
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import catalog_changes, vaults
from recollectum.storage.tables.catalog.vaults import StoragePlace

#: Its row is locked by every writer of a catalog on a server, so it is changed and never deleted.
_CHANGES = "catalog_changes"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogMove:
    """The means of moving the catalog from one place to another."""

    source: CatalogPlace
    target: CatalogPlace
    #: What keeps the highest numbers of the tables in each of them.
    numbers_from: Moves
    numbers_to: Moves
    #: What the vaults beside the old catalog are for the new one.
    left: StoragePlace
    tables: tuple[CopiedTable, ...]
    #: A folder for a file that is made.
    room: Path

    def run(self, source: Database) -> None:
        """Move the catalog, which the caller has open in the old place."""
        self.target.prepare(self.room)
        with closing(self.target.opened()) as target:
            source.read(lambda old: self._copy(old, target, self._update))
            source.write(lambda old: self._end(old, target))
        self.target.enter()

    def _end(self, old: Tx, target: Database) -> None:
        """Mark the old place, and copy the rest while nobody else writes; the copy is durable before the mark is."""
        # Counted, so that the two places are known by their numbers: see `catalog_finding`.
        catalog_changes.count(old)
        changes = catalog_changes.state(old)
        self.source.leave(old)

        def finish(old: Tx, new: Tx, *, whole: bool) -> None:
            self._update(old, new, whole=whole)
            self.target.save_changes(new, *changes)
            vaults.exchange_places(new, self.left)

        self._copy(old, target, finish)

    def _copy(self, old: Tx, target: Database, work: "Copying") -> None:
        try:
            target.write(lambda new: work(old, new, whole=False))
        except NOT_ROWS:
            raise
        except StorageError:
            # Such as two rows that exchanged a unique value: one of them is always the first.
            target.write(lambda new: work(old, new, whole=True))

    def _update(self, old: Tx, new: Tx, *, whole: bool) -> None:
        """Make the rows equal: those that differ, and all of a table without a key."""
        listed = [table for table in self.tables if table.name != _CHANGES]
        keyed = [] if whole else [table for table in listed if table.key]
        rest = [table for table in listed if table not in keyed]
        clear_rows(new, rest)
        bring_up_to_date(old, new, keyed, read_digests(new, keyed), None)
        check_equal(copy_rows(old, new, rest), digest_rows(new, rest), "the new catalog")
        self.numbers_to.keep_last_numbers(new, self.numbers_from.last_numbers(old), listed)


def clear_left_catalog(catalog: CatalogPlace, tables: Sequence[CopiedTable]) -> None:
    """Delete the rows of a catalog on a server that was moved away; its mark stays."""
    if catalog.find().state is CatalogState.GONE:
        with closing(catalog.opened()) as opened:
            opened.write(lambda tx: clear_rows(tx, [table for table in tables if table.name != _CHANGES]))


class Copying(Protocol):
    """Copies rows from one transaction to another."""

    def __call__(self, old: Tx, new: Tx, *, whole: bool) -> None:
        """Copy what differs, or everything."""
        ...
