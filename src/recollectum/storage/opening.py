"""Chooses the engine of a home, and answers what exists without opening it. SQLite is the only engine so far."""

from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.home.paths import Home
from recollectum.storage.sqlite.files import HomeFiles

if TYPE_CHECKING:
    from recollectum.domain.ids import Clock
    from recollectum.settings.model import StorageSettings
    from recollectum.storage.engine import Engine


def open_engine(home: Home, settings: "StorageSettings", clock: "Clock") -> "Engine":
    """Return the engine of a home; nothing is opened or created yet."""
    # Import here: the checks below must not wait for a database library.
    from recollectum.storage.sqlite.engine import SqliteEngine  # noqa: PLC0415

    return SqliteEngine(home, settings, clock)


def is_made(home: Home) -> bool:
    """Return whether a home exists."""
    return HomeFiles(home).catalog.exists()


def has_vaults(home: Home) -> bool:
    """Return whether vaults exist, even where the catalog is lost."""
    return bool(HomeFiles(home).vaults())


def has_keys(home: Home) -> bool:
    """Return whether a key store exists."""
    return HomeFiles(home).keys.exists()


def private_files(home: Home) -> list[Path]:
    """Return the database files of a home, which only this account may read."""
    return [path for path in HomeFiles(home).private() if path.exists()]


def place_of_catalog(home: Home) -> str:
    """Return the location of the catalog in words, whether or not it exists."""
    return str(HomeFiles(home).catalog)


def place_of_keys(home: Home) -> str:
    """Return the location of the key store in words, whether or not it exists."""
    return str(HomeFiles(home).keys)


def damaged_log_copies(home: Home) -> list[tuple[str, Path]]:
    """Return the name of each database whose log was damaged, and the folder with the copy of the log."""
    return HomeFiles(home).damaged_logs()
