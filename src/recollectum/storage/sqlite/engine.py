"""Keeps the catalog and the vaults of a home in SQLite files, one file each, at the shipped schema."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

import apsw

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Busy, Damaged, DiskFull, Moved, StorageError, WrongKey
from recollectum.domain.ids import Clock
from recollectum.home.paths import Home
from recollectum.home.reserve import Reserve
from recollectum.settings.storage import StorageSettings
from recollectum.storage.engine import CATALOG, UNSETTLED, VAULT, EngineUpkeep, VaultPlace
from recollectum.storage.port import Tx
from recollectum.storage.sqlite import files
from recollectum.storage.sqlite.backup import back_up
from recollectum.storage.sqlite.connection import is_only_connection
from recollectum.storage.sqlite.conversion import bring_seals_up_to_date
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx, checkpoint
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.sqlite.migrate import Migration, finished, migrate, pending, shipped
from recollectum.storage.sqlite.moved_mark import is_marked
from recollectum.storage.sqlite.recovery.log_check import open_database
from recollectum.storage.tables.trail import meta as table

T = TypeVar("T")
_OWNER = "owner"
_PAUSE_SECONDS = 0.005


class SqliteEngine:
    """The files of one home; see `storage.engine.Engine`."""

    #: A vault is a file, and its time is its mark.
    counts_writes = False
    place_of_server = None

    def __init__(self, home: Home, settings: StorageSettings, clock: Clock) -> None:
        self._home = home
        self._files = HomeFiles(home)
        self._settings = settings
        self._clock = clock
        self._reserve = Reserve(home.reserve_file, settings.reserve_mib * 1024 * 1024)
        #: By vault: the names of its file and its log, which are needed every second.
        self._looked_at: dict[str, tuple[str, str]] = {}

    @property
    def upkeep(self) -> EngineUpkeep:
        """Return the object that copies, verifies and repairs databases."""
        # Import here: most programs only read and write.
        from recollectum.storage.sqlite.upkeep import SqliteUpkeep  # noqa: PLC0415

        return SqliteUpkeep(self._home, self._clock)

    @property
    def server(self) -> None:
        """Return None: the databases are files."""

    @property
    def place_of_catalog(self) -> str:
        """Return the path of the catalog."""
        return str(self._files.catalog)

    def is_made(self) -> bool:
        """Return whether the catalog exists; a half-created one does not count."""
        return files.has_content(self._files.catalog)

    def with_room(self, opening: Callable[[], T]) -> T:
        """Return the result of `opening`; on a full disk, free the reserve first, or nothing could be deleted."""
        try:
            return opening()
        except DiskFull:
            if not self._reserve.release():
                raise
        return opening()

    def create_catalog(self, key: bytes | None) -> SqliteDatabase:
        """Create the catalog, or finish one that was half created; refuse if vaults exist whose catalog is lost."""
        path = self._files.catalog
        if not files.has_content(path) and self._files.vaults():
            raise StorageError(
                f"{path} is missing, but there are vaults whose owners only it names; restore it from a backup"
            )
        return self._opened(path, CATALOG, key)

    def open_catalog(self, key: bytes | None) -> SqliteDatabase:
        """Return the existing catalog."""
        return self._opened(self._files.catalog, CATALOG, key)

    def create_vault(self, vault_id: str, owner: Owner, key: bytes | None, meta: Mapping[str, str]) -> None:
        """Create a vault that records its owner, with these first rows of its meta table."""
        database = self._opened(self._files.vault(vault_id), VAULT, key)

        def record(tx: Tx) -> None:
            for name, value in {**meta, _OWNER: str(owner)}.items():
                table.save(tx, name, value)

        try:
            database.write(record)
            database.on_connection(checkpoint)
        finally:
            database.close()

    def open_vault(
        self,
        vault_id: str,
        owner: Owner,
        key: bytes | None,
        renew: Callable[[], bytes] | None = None,  # noqa: ARG002 - nobody rewrites a file that is open
    ) -> SqliteDatabase:
        """Open an existing vault of this owner: a lost file is not replaced, and a swapped one is refused."""
        path = self._files.vault(vault_id)
        if not path.exists():
            raise StorageError(f"{path} is missing; restore it from a backup, nothing was created in its place")
        database = self._opened(path, VAULT, key)
        found, is_moved = database.on_connection(_owner_and_mark)
        if is_moved:
            database.close()
            raise Moved(f"{path} was moved to a database; `recollectum move` sets it aside")
        if found != str(owner):
            database.close()
            raise StorageError(f"{path} is not the vault that the catalog names; restore the right file")
        return database

    def pending_steps(self, vault_id: str, key: bytes | None) -> tuple[str, ...]:
        """Return the schema steps that opening a vault, or the catalog, would run, without changing anything."""
        family, path = (CATALOG, self._files.catalog) if vault_id == CATALOG else (VAULT, self._files.vault(vault_id))
        database = SqliteDatabase(path, self._options(key))
        try:
            return tuple(step.label for step in pending(database, _steps(family)))
        finally:
            database.close()

    def vault_ids(self) -> list[str]:
        """Return the ids of all vault files, also of those that the catalog does not list."""
        return [path.stem for path in self._files.vaults()]

    def place_of(self, vault_id: str) -> VaultPlace | None:
        """Return the file of a vault, or None when it does not exist."""
        path = self._files.vault(vault_id)
        found = files.state_of(path)
        if found is None:
            return None
        changed_at = datetime.fromtimestamp(found.st_mtime, UTC)
        return VaultPlace(words=str(path), bytes=found.st_size, changed_at=changed_at)

    def is_unused(self, vault_id: str, key: bytes | None) -> bool:
        """Return whether no connection to a vault is open, or to the catalog, of which every process keeps one."""
        try:
            return is_only_connection(self._files.catalog if vault_id == CATALOG else self._files.vault(vault_id), key)
        except (Damaged, WrongKey):
            # An earlier attempt deleted its key, so nobody can read it.
            return True

    def destroy_vault(self, vault_id: str, destroy_key: Callable[[], object] = lambda: None) -> None:
        """Delete the file of a vault and its logs, which nobody has open."""
        destroy_key()
        files.remove(self._files.vault(vault_id))

    def write_marks(self, vault_ids: Iterable[str], settling: timedelta) -> dict[str, str]:
        """Return a mark for each vault: the size and time of its file and its log, which a write changes.

        SQLite appends to its log, waits for the disk, and only then makes the write visible. A file that changed a
        moment ago may therefore show more without changing again.
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
        """Open a database; wait while another process looks whether it is the only one that has it open.

        SQLite calls no busy handler when that process has just given up the log.
        """
        deadline = time.monotonic() + self._settings.busy_timeout_seconds
        while True:
            try:
                return self._open_once(path, family, key)
            except Busy:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_PAUSE_SECONDS)

    def _open_once(self, path: Path, family: str, key: bytes | None) -> SqliteDatabase:
        opening = partial(SqliteDatabase, path, self._options(key, is_movable=True))
        database = self.with_room(lambda: open_database(self._home, self._clock, path, opening))
        try:
            migrate(
                database,
                _steps(family),
                clock=self._clock,
                backup=lambda name: self._back_up(database, name, key),
                schema=_schema(family),
            )
            if family == VAULT:
                bring_seals_up_to_date(database, plain=key is None)
        except BaseException:
            database.close()
            raise
        return database

    def _options(self, key: bytes | None, *, is_movable: bool = False) -> SqliteOptions:
        return SqliteOptions(
            key=key,
            is_movable=is_movable,
            cache_kib=self._settings.cache_kib,
            busy_timeout=timedelta(seconds=self._settings.busy_timeout_seconds),
            readers=self._settings.readers,
            make_room=self._reserve.release,
        )

    def _back_up(self, database: SqliteDatabase, name: str, key: bytes | None) -> Path:
        moment = self._clock().strftime("%Y%m%dT%H%M%S")
        return back_up(database, self._home.backups / f"{database.path.stem}-{name}-{moment}.db", key=key)


def _owner_and_mark(connection: apsw.Connection) -> tuple[str | None, bool]:
    """Return the owner that a vault names, and whether it was moved to a database."""
    tx = SqliteTx(connection)
    return table.find(tx, _OWNER), is_marked(connection)


def _mark(names: tuple[str, str], oldest: float) -> str:
    states: list[tuple[int, int]] = []
    for name in names:
        try:
            found = os.stat(name)  # noqa: PTH116 - a third of the time, and this runs every second
        except OSError:
            continue
        states.append((found.st_mtime_ns, found.st_size))
    settled = max((changed for changed, _ in states), default=0) <= oldest
    return repr(states) if settled else repr(states) + UNSETTLED


@lru_cache
def _steps(family: str) -> tuple[Migration, ...]:
    return shipped(family)


@lru_cache
def _schema(family: str) -> str | None:
    return finished(family, _steps(family))
