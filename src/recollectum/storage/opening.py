"""Opens the catalog or a vault at the shipped schema."""

from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import DiskFull, StorageError
from recollectum.domain.ids import Clock
from recollectum.home.paths import Home
from recollectum.home.reserve import Reserve
from recollectum.settings.model import StorageSettings
from recollectum.storage.migrate import Migration, migrate, pending, shipped
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.backup import back_up
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx, checkpoint
from recollectum.storage.tables.trail import meta, seals

T = TypeVar("T")
CATALOG = "catalog"
VAULT = "vault"
_OWNER = "owner"


class Opener:
    """Opens the files of one home with its settings."""

    def __init__(self, home: Home, settings: StorageSettings, clock: Clock) -> None:
        self._home = home
        self._settings = settings
        self._clock = clock
        self._reserve = Reserve(home.reserve_file, settings.reserve_mib * 1024 * 1024)

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
        path = self._home.catalog_file
        if _is_empty(path) and any(self._home.vaults.glob("*.db")):
            raise StorageError(
                f"{path} is missing, but there are vaults that it knew the owners of; restore it from a backup"
            )
        return self._opened(path, CATALOG, key)

    def open_catalog(self, key: bytes | None) -> SqliteDatabase:
        """The catalog that is there."""
        return self._opened(self._home.catalog_file, CATALOG, key)

    def create_vault(self, vault_id: str, owner: Owner, key: bytes | None) -> None:
        """A new vault, which says itself whose it is."""
        database = self._opened(self._home.vault_file(vault_id), VAULT, key)
        try:
            database.write(lambda tx: meta.save(tx, _OWNER, str(owner)))
            database.on_connection(checkpoint)
        finally:
            database.close()

    def open_vault(self, vault_id: str, owner: Owner, key: bytes | None) -> SqliteDatabase:
        """A vault that must be there, and be this owner's: a lost file is not replaced, a swapped one not served."""
        path = self._home.vault_file(vault_id)
        if not path.exists():
            raise StorageError(f"{path} is missing; restore it from a backup, nothing was created in its place")
        database = self._opened(path, VAULT, key)
        if database.on_connection(lambda connection: meta.find(SqliteTx(connection), _OWNER)) != str(owner):
            database.close()
            raise StorageError(f"{path} is not the vault that the catalog takes it for; restore the right file")
        return database

    def pending(self, path: Path, family: str, key: bytes | None) -> tuple[Migration, ...]:
        """The schema steps that opening the file would run; nothing is changed."""
        database = SqliteDatabase(path, self._options(key))
        try:
            return pending(database, _steps(family))
        finally:
            database.close()

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


def _bring_seals_up_to_date(database: SqliteDatabase, *, plain: bool) -> None:
    """Seal once what was written before there were seals; behind a cipher they are not kept, and would grow old."""
    due = database.on_connection(lambda connection: _seals_are_due(SqliteTx(connection), plain=plain))
    if due:
        database.write(seals.seal if plain else seals.clear)


def _seals_are_due(tx: Tx, *, plain: bool) -> bool:
    return not seals.are_whole(tx) if plain else seals.are_there(tx)


def _is_empty(path: Path) -> bool:
    return not path.exists() or path.stat().st_size == 0


@lru_cache
def _steps(family: str) -> tuple[Migration, ...]:
    return shipped(family)
