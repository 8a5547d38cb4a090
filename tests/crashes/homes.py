"""Reaching the file of a vault in a home, with its own key."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.home.paths import Home
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions


def vault_files(root: Path) -> list[Path]:
    """The file of every vault in the home, in the order in which they were made."""
    return sorted(Home(root).vaults.glob("*.db"))


def file_of(home: Recollectum, owner: str | Owner) -> Path:
    """The file of an owner's vault."""
    place = home.vault_place(owner)
    assert place is not None
    return Path(place.words)


def vault_key(root: Path, path: Path) -> bytes | None:
    """The key of the vault in that file, if it is encrypted."""
    with Recollectum(root) as r:
        keys = r.encryption()
        return keys.key(path.stem) if keys.has_key(path.stem) else None


@contextmanager
def only_vault(root: Path) -> Generator[SqliteDatabase]:
    """The database of the one vault that the home has."""
    (path,) = vault_files(root)
    database = SqliteDatabase(path, SqliteOptions(key=vault_key(root, path)))
    try:
        yield database
    finally:
        database.close()
