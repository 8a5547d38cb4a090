"""Putting a damaged or replaced database aside, with its log: nothing that might still be read is thrown away."""

from datetime import datetime
from pathlib import Path

from recollectum.home.files import make_private_folder, sync_folder
from recollectum.home.paths import Home

SUFFIXES = ("", "-wal", "-shm")


def evidence_folder(home: Home, name: str, now: datetime) -> Path:
    """A new folder for what is put aside."""
    base = f"aside-{name}-{now.strftime('%Y%m%dT%H%M%SZ')}"
    number = 1
    while (folder := home.backups / (base if number == 1 else f"{base}-{number}")).exists():
        number += 1
    make_private_folder(folder)
    return folder


def set_aside(home: Home, path: Path, now: datetime) -> Path:
    """Move a database and its log into a folder of the backups; where they are now."""
    folder = evidence_folder(home, path.stem, now)
    # The database first: one that were found without its log would look whole, and be older.
    for suffix in SUFFIXES:
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(folder / part.name)
    sync_folder(folder)
    sync_folder(path.parent)
    return folder


def is_there(path: Path) -> bool:
    """Whether a database is there, or a log that would be taken for the next one's."""
    return any(path.with_name(path.name + suffix).exists() for suffix in SUFFIXES)
