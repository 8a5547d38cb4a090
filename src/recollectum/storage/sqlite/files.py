"""Names the database files of a home, and lists, moves and removes them with their logs."""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recollectum.domain.errors import InvalidInput, StorageError
from recollectum.home.files import make_private_folder, sync_folder
from recollectum.home.paths import Home

CATALOG_FILE = "catalog.db"
KEYS_FILE = "keys.db"
#: SQLite keeps a log and an index of the log beside a database in use.
LOG = "-wal"
_BESIDE = (LOG, "-shm", "-journal")
_ENDING = ".db"
_VAULT_ID = re.compile(r"[a-z0-9_]{1,128}")


@dataclass(frozen=True, slots=True)
class HomeFiles:
    """The database files of one home."""

    home: Home

    @property
    def catalog(self) -> Path:
        """Who has a vault here."""
        return self.home.root / CATALOG_FILE

    @property
    def keys(self) -> Path:
        """The wrapped key of each vault."""
        return self.home.root / KEYS_FILE

    def vault(self, vault_id: str) -> Path:
        """The database of one vault."""
        if not _VAULT_ID.fullmatch(vault_id):
            raise InvalidInput(f"{vault_id!r} is not a vault id; use lower-case letters, digits and underscores")
        return self.home.vaults / f"{vault_id}{_ENDING}"

    def vaults(self) -> list[Path]:
        """The vault files that are there, by name."""
        return sorted(self.home.vaults.glob(f"*{_ENDING}"))

    def private(self) -> Iterator[Path]:
        """Every database file and log, which only this account may read."""
        yield from (self.catalog, self.keys, *self.home.vaults.glob(f"*{_ENDING}*"))

    def names_of_others(self, own: Collection[str]) -> list[str]:
        """How the names of the files of other vaults begin, from the home: their own, and their copies in backups."""
        found: list[str] = []
        for path in self.vaults():
            if path.stem not in own:
                found += [f"vaults/{path.name}", f"backups/{path.stem}-"]
        copies = (path for path in self.home.backups.glob(f"*/vaults/*{_ENDING}") if path.stem not in own)
        return found + [path.relative_to(self.home.root).as_posix() for path in sorted(copies)]


def name_in_backup(vault_id: str) -> str:
    """The file of a vault in the folder of a backup, with forward slashes."""
    return f"vaults/{vault_id}{_ENDING}"


def is_database_name(name: str) -> bool:
    """Whether a file is a database or a log of one, by its name."""
    return _ENDING in name


def log_of(path: Path) -> Path:
    """The write-ahead log of a database."""
    return path.with_name(path.name + LOG)


def with_logs(path: Path) -> tuple[Path, ...]:
    """A database and what SQLite may keep beside it, the database first."""
    return path, *(path.with_name(path.name + suffix) for suffix in _BESIDE)


def is_there(path: Path) -> bool:
    """Whether a database is there, or a log that would be taken for the next one's."""
    return any(part.exists() for part in with_logs(path))


def has_content(path: Path) -> bool:
    """Whether a database is there and was begun."""
    found = state_of(path)
    return found is not None and found.st_size > 0


def state_of(path: Path) -> os.stat_result | None:
    """The size and times of a file; None when it is not there."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(
            f"{path} cannot be looked at ({error.strerror}); correct its mode or its folder's"
        ) from error


def remove(path: Path) -> None:
    """Delete a database and its logs, where they are there."""
    for part in with_logs(path):
        part.unlink(missing_ok=True)


def evidence_folder(home: Home, name: str, now: datetime) -> Path:
    """A new folder in the backups for what is put aside."""
    start = f"aside-{name}-{now.strftime('%Y%m%dT%H%M%SZ')}"
    number = 1
    while (folder := home.backups / (start if number == 1 else f"{start}-{number}")).exists():
        number += 1
    make_private_folder(folder)
    return folder


def set_aside(home: Home, path: Path, now: datetime) -> Path:
    """Move a database and its log into a folder of the backups; where they are now."""
    folder = evidence_folder(home, path.stem, now)
    # The database first: one that were found without its log would look whole, and be older.
    for part in with_logs(path):
        if part.exists():
            part.rename(folder / part.name)
    sync_folder(folder)
    sync_folder(path.parent)
    return folder
