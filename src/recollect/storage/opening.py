"""Open a database file at the shipped schema: the catalog, or one vault."""

from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from recollect.domain.errors import StorageError
from recollect.domain.ids import Clock
from recollect.home.paths import Home
from recollect.home.reserve import Reserve
from recollect.settings.model import StorageSettings
from recollect.storage.migrate import Migration, migrate, pending, shipped
from recollect.storage.sqlite.backup import back_up
from recollect.storage.sqlite.database import SqliteDatabase, SqliteOptions

CATALOG = "catalog"
VAULT = "vault"


class Opener:
    """Opens the files of one home with its settings."""

    def __init__(self, home: Home, settings: StorageSettings, clock: Clock) -> None:
        self._home = home
        self._settings = settings
        self._clock = clock
        self._reserve = Reserve(home.reserve_file, settings.reserve_mib * 1024 * 1024)

    def create(self, path: Path, family: str, key: bytes | None) -> SqliteDatabase:
        """A new file, or one whose creation was cut short."""
        return self._opened(path, family, key)

    def open(self, path: Path, family: str, key: bytes | None) -> SqliteDatabase:
        """A file that must be there: a lost one is not replaced by an empty one."""
        if not path.exists():
            raise StorageError(f"{path} is missing; restore it from a backup, nothing was created in its place")
        return self._opened(path, family, key)

    def pending(self, path: Path, family: str, key: bytes | None) -> tuple[Migration, ...]:
        """The schema steps that opening the file would run; nothing is changed."""
        database = SqliteDatabase(path, self._options(key))
        try:
            return pending(database, _steps(family))
        finally:
            database.close()

    def _opened(self, path: Path, family: str, key: bytes | None) -> SqliteDatabase:
        database = SqliteDatabase(path, self._options(key))
        try:
            migrate(database, _steps(family), clock=self._clock, backup=lambda name: self._back_up(database, name, key))
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


@lru_cache
def _steps(family: str) -> tuple[Migration, ...]:
    return shipped(family)
