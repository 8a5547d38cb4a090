"""Chooses the engine of a home, and says what is there without opening it. SQLite is the only engine yet."""

from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.home.paths import Home
from recollectum.storage.sqlite.files import HomeFiles

if TYPE_CHECKING:
    from recollectum.domain.ids import Clock
    from recollectum.settings.model import StorageSettings
    from recollectum.storage.engine import Engine


def open_engine(home: Home, settings: "StorageSettings", clock: "Clock") -> "Engine":
    """The engine of a home; nothing is opened or made yet."""
    # Only now: who asks below whether there is a home must not wait for a database library.
    from recollectum.storage.sqlite.engine import SqliteEngine  # noqa: PLC0415

    return SqliteEngine(home, settings, clock)


def is_made(home: Home) -> bool:
    """Whether there is a home."""
    return HomeFiles(home).catalog.exists()


def has_vaults(home: Home) -> bool:
    """Whether there are vaults, also where the catalog is lost."""
    return bool(HomeFiles(home).vaults())


def has_keys(home: Home) -> bool:
    """Whether there is a key store."""
    return HomeFiles(home).keys.exists()


def private_files(home: Home) -> list[Path]:
    """The files of a home's databases that only this account may read."""
    return [path for path in HomeFiles(home).private() if path.exists()]


def place_of_catalog(home: Home) -> str:
    """Where the catalog is, or was, in words."""
    return str(HomeFiles(home).catalog)


def place_of_keys(home: Home) -> str:
    """Where the key store is, or would be, in words."""
    return str(HomeFiles(home).keys)
