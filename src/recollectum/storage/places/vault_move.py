"""Moves one vault to another place while programs read and write it.

1. The rows are copied in one snapshot, and what was written since then again, while others write.
2. Under the writer's lock of the old place the remaining difference is copied and committed in the new one; then the
   old place is marked, in the transaction that holds the lock.
3. The catalog is told. Programs that have the vault open are refused by the mark, and look there.
4. What is left in the old place is cleared away.

The mark decides: without it the old place holds the vault, and a copy is what a killed move left; with it the new place
holds the vault, whether or not the catalog was told.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from recollectum.domain.errors import Busy, Conflict, DiskFull, Moved, ReadOnly, StorageError, Undecided, Unreachable
from recollectum.domain.records import dataclass
from recollectum.storage.copying.row_changes import (
    RowDigests,
    SomeTerms,
    bring_up_to_date,
    read_digests,
    replace_rows,
)
from recollectum.storage.copying.row_copier import CopiedTable
from recollectum.storage.engine import Engine, Progress
from recollectum.storage.places.file_moves import FileMoves
from recollectum.storage.places.vault_places import FILES, NamedPlace, VaultPlaces
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog.vaults import VaultEntry

#: How often the difference is copied while others write, and how few rows of it are left for the lock.
_ROUNDS = 4
_FEW = 200
#: A copy that took less time is brought up to date under the lock at once.
_SHORT_SECONDS = 1.0
#: How long the programs that had a vault open are given to notice that it was moved.
PATIENCE = timedelta(seconds=5)
#: Nothing that another way of copying would cure.
NOT_ROWS = (Busy, Unreachable, Undecided, DiskFull, ReadOnly, Moved)


class Moves(Protocol):
    """One place, as a side of a move."""

    def mark_moved(self, tx: Tx) -> None:
        """Mark a vault in the transaction that ends its move; every later transaction of it is refused."""
        ...

    def is_moved(self, vault_id: str, key: bytes | None) -> bool:
        """Return whether a vault was moved away and is still there."""
        ...

    def clear(self, vault_id: str, key: bytes | None, now: datetime, patience: timedelta) -> Path | None:
        """Delete or set aside what is there of a vault; return where it is kept.

        A file that another program has open for longer than `patience` is `Busy`.
        """
        ...

    def others_wrote(self, tx: Tx) -> int | None:
        """Return a number that is another one once somebody else wrote to a vault; None where nobody knows."""
        ...

    def last_numbers(self, tx: Tx) -> dict[str, int]:
        """Return the highest number ever used, by table."""
        ...

    def keep_last_numbers(self, tx: Tx, numbers: Mapping[str, int], tables: Sequence[CopiedTable]) -> None:
        """Use none of these numbers again."""
        ...


class MoveSide(NamedTuple):
    """A place, its engine, and what a move does there."""

    place: NamedPlace
    engine: Engine
    moves: Moves


class MovedVault(NamedTuple):
    """What a move of one vault did."""

    #: False when an earlier move had copied it already, and only the last steps were missing.
    copied: bool
    #: How many rows were copied under the lock.
    late_rows: int
    #: Where the old file is kept; None while a program has it open, and for rows, which are deleted.
    kept: Path | None


def side_of(places: VaultPlaces, place: NamedPlace) -> MoveSide:
    """Return a place of a home as one side of a move."""
    found = places.at(place)
    if place == FILES:
        return MoveSide(place, found, FileMoves(places.home))
    # Import here: it needs the driver, which is an extra.
    from recollectum.storage.places.database_moves import DatabaseMoves  # noqa: PLC0415
    from recollectum.storage.postgres.engine import PostgresEngine  # noqa: PLC0415

    return MoveSide(place, found, DatabaseMoves(cast(PostgresEngine, found)))


def check_apart(places: VaultPlaces, one: NamedPlace, other: NamedPlace) -> None:
    """Raise if two addresses lead to one database: a move would delete what it has copied onto itself."""
    # Import here: it needs the driver, which is an extra.
    from recollectum.storage.postgres.engine import PostgresEngine  # noqa: PLC0415
    from recollectum.storage.postgres.operations.identity import is_same_database  # noqa: PLC0415

    first, second = (cast(PostgresEngine, places.at(place)) for place in (one, other))
    if is_same_database(first.pool, second.pool):
        raise Conflict(
            f"{first.place_of_catalog} and {second.place_of_catalog} are the same database; name another one"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultMove:
    """The means of moving vaults from one place to another."""

    source: MoveSide
    target: MoveSide
    #: Tells the catalog where a vault is.
    record: Callable[[str, NamedPlace], None]
    tables: tuple[CopiedTable, ...]
    terms: SomeTerms
    clock: Callable[[], datetime]

    def run(self, entry: VaultEntry, key: bytes | None, progress: Progress) -> MovedVault:
        """Move one vault; a move that was killed is continued."""
        if self.source.moves.is_moved(entry.id, key):
            return self._finish(entry, key, MovedVault(copied=False, late_rows=0, kept=None))
        target = self._opened_copy(entry, key)
        try:
            source = self.source.engine.open_vault(entry.id, entry.owner, key)
            try:
                late = self._copy(source, target, progress)
            finally:
                source.close()
        finally:
            target.close()
        return self._finish(entry, key, MovedVault(copied=True, late_rows=late, kept=None))

    def clear(self, entry: VaultEntry, key: bytes | None, patience: timedelta) -> Path | None:
        """Clear away what a move left in the old place of a vault, which is in the new one; return where it is kept."""
        # A program that has the old file open and does nothing keeps it there; the next move clears it away.
        with suppress(Busy):
            return self.source.moves.clear(entry.id, key, self.clock(), patience)
        return None

    def _finish(self, entry: VaultEntry, key: bytes | None, done: MovedVault) -> MovedVault:
        self.record(entry.id, self.target.place)
        return done._replace(kept=self.clear(entry, key, timedelta(0)))

    def _opened_copy(self, entry: VaultEntry, key: bytes | None) -> Database:
        """Open the copy that a killed move left, or a new one."""
        engine, moves = self.target.engine, self.target.moves
        if not moves.is_moved(entry.id, key) and engine.place_of(entry.id):
            with suppress(StorageError):
                return engine.open_vault(entry.id, entry.owner, key)
        moves.clear(entry.id, key, self.clock(), PATIENCE)
        engine.create_vault(entry.id, entry.owner, key, {})
        return engine.open_vault(entry.id, entry.owner, key)

    def _copy(self, source: Database, target: Database, progress: Progress) -> int:
        """Copy all rows; return how many were copied under the lock."""
        begun = time.monotonic()
        known: RowDigests = target.read(lambda tx: read_digests(tx, self.tables))
        rounds = _ROUNDS
        seen: int | None = None
        if not known[_FILLED]:
            seen = source.write(self.source.moves.others_wrote)
            known = source.read(lambda old: target.write(lambda new: self._replace(old, new, progress)))
            # What others wrote meanwhile is little, and under the lock all rows are compared once more anyway.
            is_short = time.monotonic() - begun < _SHORT_SECONDS
            rounds = 0 if is_short or source.write(lambda old: self._is_whole(old, seen)) else _ROUNDS
        for _ in range(rounds):
            late = source.read(lambda old, seen=known: self._catch_up(old, target, seen))
            if late:
                known = target.read(lambda tx: read_digests(tx, self.tables))
            if late <= _FEW:
                break
        return source.write(lambda old: self._end(old, target, known, seen))

    def _end(self, old: Tx, target: Database, known: RowDigests, seen: int | None) -> int:
        """Copy the rest while nobody else writes, and mark the old place; the copy is durable before the mark is.

        `seen` is what `others_wrote` returned before the copy was begun.
        """
        late = 0 if self._is_whole(old, seen) else self._catch_up(old, target, known)
        self.source.moves.mark_moved(old)
        return late

    def _is_whole(self, old: Tx, seen: int | None) -> bool:
        """Return whether nobody wrote since the copy was begun, which was compared with what was read."""
        return seen is not None and seen == self.source.moves.others_wrote(old)

    def _catch_up(self, old: Tx, target: Database, known: RowDigests) -> int:
        try:
            return target.write(lambda new: self._update(old, new, known))
        except NOT_ROWS:
            raise
        except StorageError:
            # Such as two rows that exchanged a unique value: one of them is always the first.
            target.write(lambda new: self._replace(old, new, lambda _: None))
            return 1

    def _update(self, old: Tx, new: Tx, known: RowDigests) -> int:
        late = bring_up_to_date(old, new, self.tables, known, self.terms)
        self._keep_numbers(old, new)
        return late

    def _replace(self, old: Tx, new: Tx, progress: Progress) -> RowDigests:
        digests = replace_rows(old, new, self.tables, self.terms, progress)
        self._keep_numbers(old, new)
        return digests

    def _keep_numbers(self, old: Tx, new: Tx) -> None:
        self.target.moves.keep_last_numbers(new, self.source.moves.last_numbers(old), self.tables)


#: Every vault that was used has an event; a copy without one is new.
_FILLED = "events"
