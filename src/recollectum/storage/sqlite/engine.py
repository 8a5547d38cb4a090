"""Keeps the catalog and the vaults of a home in SQLite files, one file each, at the shipped schema."""

import os
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, DiskFull, StorageError, WrongKey
from recollectum.domain.ids import Clock
from recollectum.home.paths import Home
from recollectum.home.reserve import Reserve
from recollectum.settings.model import StorageSettings
from recollectum.storage.engine import CATALOG, UNSETTLED, VAULT, EngineUpkeep, VaultPlace
from recollectum.storage.port import Tx
from recollectum.storage.sqlite import files
from recollectum.storage.sqlite.backup import back_up
from recollectum.storage.sqlite.connection import is_only_connection
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx, checkpoint
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.sqlite.migrate import Migration, migrate, pending, shipped
from recollectum.storage.tables.trail import meta, seals

T = TypeVar("T")
_OWNER = "owner"


class SqliteEngine:
    """The files of one home; see `storage.engine.Engine`."""

    def __init__(self, home: Home, settings: StorageSettings, clock: Clock) -> None:
        self._home = home
        self._files = HomeFiles(home)
        self._settings = settings
        self._clock = clock
        self._reserve = Reserve(home.reserve_file, settings.reserve_mib * 1024 * 1024)
        #: By vault: its file and its log, whose names are asked for every second.
        self._looked_at: dict[str, tuple[str, str]] = {}

    @property
    def upkeep(self) -> EngineUpkeep:
        """What copies, verifies and repairs."""
        # Only now: most programs only read and write.
        from recollectum.storage.sqlite.upkeep import SqliteUpkeep  # noqa: PLC0415

        return SqliteUpkeep(self._home, self._clock)

    def is_made(self) -> bool:
        """Whether there is a catalog; one whose creation was cut short is none."""
        return files.has_content(self._files.catalog)

    def with_room(self, opening: Callable[[], T]) -> T:
        """What `opening` opens; on a full disk the reserve is given up for it, or nothing could be deleted."""
        try:
            return opening()
        except DiskFull:
            if not self._reserve.release():
                raise
        return opening()

    def create_catalog(self, key: bytes | None) -> SqliteDatabase:
        """A new catalog, or one whose creation was cut short; never a second one for vaults that have lost theirs."""
        path = self._files.catalog
        if not files.has_content(path) and self._files.vaults():
            raise StorageError(
                f"{path} is missing, but there are vaults that it knew the owners of; restore it from a backup"
            )
        return self._opened(path, CATALOG, key)

    def open_catalog(self, key: bytes | None) -> SqliteDatabase:
        """The catalog that is there."""
        return self._opened(self._files.catalog, CATALOG, key)

    def create_vault(self, vault_id: str, owner: Owner, key: bytes | None) -> None:
        """A new vault, which says itself whose it is."""
        database = self._opened(self._files.vault(vault_id), VAULT, key)
        try:
            database.write(lambda tx: meta.save(tx, _OWNER, str(owner)))
            database.on_connection(checkpoint)
        finally:
            database.close()

    def open_vault(self, vault_id: str, owner: Owner, key: bytes | None) -> SqliteDatabase:
        """A vault that must be there, and be this owner's: a lost file is not replaced, a swapped one not served."""
        path = self._files.vault(vault_id)
        if not path.exists():
            raise StorageError(f"{path} is missing; restore it from a backup, nothing was created in its place")
        database = self._opened(path, VAULT, key)
        if database.on_connection(lambda connection: meta.find(SqliteTx(connection), _OWNER)) != str(owner):
            database.close()
            raise StorageError(f"{path} is not the vault that the catalog takes it for; restore the right file")
        return database

    def pending_steps(self, vault_id: str, key: bytes | None) -> tuple[str, ...]:
        """The schema steps that opening a vault would run; nothing is changed."""
        database = SqliteDatabase(self._files.vault(vault_id), self._options(key))
        try:
            return tuple(step.label for step in pending(database, _steps(VAULT)))
        finally:
            database.close()

    def vault_ids(self) -> list[str]:
        """Every vault file that is there, also those that the catalog does not know."""
        return [path.stem for path in self._files.vaults()]

    def place_of(self, vault_id: str) -> VaultPlace | None:
        """The file of a vault; None when it is not there."""
        path = self._files.vault(vault_id)
        found = files.state_of(path)
        if found is None:
            return None
        changed_at = datetime.fromtimestamp(found.st_mtime, UTC)
        return VaultPlace(words=str(path), bytes=found.st_size, changed_at=changed_at)

    def is_unused(self, vault_id: str, key: bytes | None) -> bool:
        """Whether no connection to a vault is open."""
        try:
            return is_only_connection(self._files.vault(vault_id), key)
        except (Damaged, WrongKey):
            # Its key went in an attempt before this one: nobody can read it.
            return True

    def destroy_vault(self, vault_id: str) -> None:
        """Delete the file of a vault and its logs."""
        files.remove(self._files.vault(vault_id))

    def write_marks(self, vault_ids: Iterable[str], settling: timedelta) -> dict[str, str]:
        """The size and time of each vault's file and log, which a write changes.

        SQLite writes to its log first, waits for the medium and only then shows what it wrote, so files that changed a
        moment ago may have more to show without changing again.
        """
        oldest = time.time_ns() - settling / timedelta(microseconds=1) * 1000
        return {vault_id: _mark(self._names(vault_id), oldest) for vault_id in vault_ids}

    def _names(self, vault_id: str) -> tuple[str, str]:
        known = self._looked_at.get(vault_id)
        if known is None:
            path = self._files.vault(vault_id)
            known = self._looked_at[vault_id] = str(path), str(files.log_of(path))
        return known

    def _opened(self, path: Path, family: str, key: bytes | None) -> SqliteDatabase:
        database = self.with_room(lambda: SqliteDatabase(path, self._options(key)))
        try:
            migrate(database, _steps(family), clock=self._clock, backup=lambda name: self._back_up(database, name, key))
            if family == VAULT:
                _bring_seals_up_to_date(database, plain=key is None)
        except BaseException:
            database.close()
            raise
        return database

    def _options(self, key: bytes | None) -> SqliteOptions:
        return SqliteOptions(
            key=key,
            cache_kib=self._settings.cache_kib,
            busy_timeout=timedelta(seconds=self._settings.busy_timeout_seconds),
            readers=self._settings.readers,
            make_room=self._reserve.release,
        )

    def _back_up(self, database: SqliteDatabase, name: str, key: bytes | None) -> Path:
        moment = self._clock().strftime("%Y%m%dT%H%M%S")
        return back_up(database, self._home.backups / f"{database.path.stem}-{name}-{moment}.db", key=key)


def _mark(names: tuple[str, str], oldest: float) -> str:
    states: list[tuple[int, int]] = []
    for name in names:
        try:
            found = os.stat(name)  # noqa: PTH116 - a third of the time, and it is asked every second
        except OSError:
            continue
        states.append((found.st_mtime_ns, found.st_size))
    settled = max((changed for changed, _ in states), default=0) <= oldest
    return repr(states) if settled else repr(states) + UNSETTLED


def _bring_seals_up_to_date(database: SqliteDatabase, *, plain: bool) -> None:
    """Seal once what was written before there were seals; behind a cipher they are not kept, and would grow old."""
    due = database.on_connection(lambda connection: _seals_are_due(SqliteTx(connection), plain=plain))
    if due:
        database.write(seals.seal if plain else seals.clear)


def _seals_are_due(tx: Tx, *, plain: bool) -> bool:
    return not seals.are_whole(tx) if plain else seals.are_there(tx)


@lru_cache
def _steps(family: str) -> tuple[Migration, ...]:
    return shipped(family)
