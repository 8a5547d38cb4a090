"""Names the database files of a home, and lists, moves and removes them with their logs."""

import os
import re
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

from recollectum.domain.errors import InvalidInput, StorageError
from recollectum.domain.records import dataclass
from recollectum.home.files import make_private_folder, sync_folder
from recollectum.home.paths import Home

CATALOG_FILE = "catalog.db"
KEYS_FILE = "keys.db"
#: The files that SQLite keeps beside a database in use: a log and an index of the log.
LOG = "-wal"
_BESIDE = (LOG, "-shm", "-journal")
_ENDING = ".db"
_ASIDE = "aside-"
#: In the name of a folder with the copy of a damaged log.
DAMAGED_LOG = "log"
_VAULT_ID = re.compile(r"[a-z0-9_]{1,128}")


@dataclass(frozen=True, slots=True)
class HomeFiles:
    """The database files of one home."""

    home: Home

    @property
    def catalog(self) -> Path:
        """Return the path of the catalog, which lists the vaults."""
        return self.home.root / CATALOG_FILE

    @property
    def keys(self) -> Path:
        """Return the path of the wrapped vault keys."""
        return self.home.root / KEYS_FILE

    def vault(self, vault_id: str) -> Path:
        """Return the path of one vault's database."""
        if not is_vault_id(vault_id):
            raise InvalidInput(f"{vault_id!r} is not a vault id; use lower-case letters, digits and underscores")
        return self.home.vaults / f"{vault_id}{_ENDING}"

    def vaults(self) -> list[Path]:
        """Return the existing vault files, by name."""
        return sorted(self.home.vaults.glob(f"*{_ENDING}"))

    def private(self) -> Iterator[Path]:
        """Yield every database file and log; only this account may read them."""
        yield from (self.catalog, self.keys, self.home.erasures_file, *self.home.vaults.glob(f"*{_ENDING}*"))

    def damaged_logs(self) -> list[tuple[str, Path]]:
        """Return the stem of each database whose damaged log was copied, and the folder of the copy."""
        found = sorted(self.home.backups.glob(f"{_ASIDE}*-{DAMAGED_LOG}-*"))
        return [(path.name.removeprefix(_ASIDE).rpartition(f"-{DAMAGED_LOG}-")[0], path) for path in found]

    def names_of_others(self, own: Collection[str]) -> list[str]:
        """Return the prefixes, from the home, of other vaults' file names: databases and their copies in backups."""
        found: list[str] = []
        others = {path.stem for path in self.vaults()} - set(own)
        for stem in sorted(others):
            found += [f"vaults/{stem}{_ENDING}", f"backups/{stem}-"]
        # Only under names of vaults that this home has: a file of any other name may be a copy of anything.
        copies = (path for path in self.home.backups.glob(f"*/vaults/*{_ENDING}") if path.stem in others)
        return found + [path.relative_to(self.home.root).as_posix() for path in sorted(copies)]


def is_vault_id(text: object) -> bool:
    """Return whether this can be the id of a vault, which is a part of a file name."""
    return isinstance(text, str) and _VAULT_ID.fullmatch(text) is not None


def name_in_backup(vault_id: str) -> str:
    """Return the path of a vault's file in the folder of a backup, with forward slashes."""
    return f"vaults/{vault_id}{_ENDING}"


def is_database_name(name: str) -> bool:
    """Return whether a file name is that of a database or of its log."""
    return _ENDING in name


def log_of(path: Path) -> Path:
    """Return the path of a database's write-ahead log."""
    return path.with_name(path.name + LOG)


def with_logs(path: Path) -> tuple[Path, ...]:
    """Return a database and the files that SQLite may keep beside it, the database first."""
    return path, *(path.with_name(path.name + suffix) for suffix in _BESIDE)


def is_there(path: Path) -> bool:
    """Return whether a database exists, or a log that SQLite would apply to the next database of that name."""
    return any(part.exists() for part in with_logs(path))


def has_content(path: Path) -> bool:
    """Return whether a database exists and is not empty."""
    found = state_of(path)
    return found is not None and found.st_size > 0


def state_of(path: Path) -> os.stat_result | None:
    """Return the size and times of a file, or None when it does not exist."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(
            f"{path} cannot be inspected ({error.strerror}); correct its mode or its folder's"
        ) from error


def remove(path: Path) -> None:
    """Delete a database and its logs, if they exist."""
    for part in with_logs(path):
        part.unlink(missing_ok=True)


def evidence_folder(home: Home, name: str, now: datetime) -> Path:
    """Create and return a new folder in the backups for files that are set aside."""
    start = f"{_ASIDE}{name}-{now.strftime('%Y%m%dT%H%M%SZ')}"
    number = 1
    while (folder := home.backups / (start if number == 1 else f"{start}-{number}")).exists():
        number += 1
    make_private_folder(folder)
    return folder


def set_aside(home: Home, path: Path, now: datetime) -> Path:
    """Move a database and its log into a folder of the backups; return their new paths."""
    folder = evidence_folder(home, path.stem, now)
    # Move the database first: without its log it would look complete, and be older.
    for part in with_logs(path):
        if part.exists():
            part.rename(folder / part.name)
    sync_folder(folder)
    sync_folder(path.parent)
    return folder
