"""Notes in a home that its vaults, some of them, or its keys are in a PostgreSQL database."""

from enum import StrEnum

from recollectum.home.files import sync_folder, write_atomic
from recollectum.home.paths import Home

_TEXT = b"The vaults of this home are in the PostgreSQL database that storage.url names.\n"
_SPLIT = b"Vaults of this home may be in two places; storage.url and storage.second_url name the databases.\n"
_KEYS = b"The keys of this home are in the PostgreSQL database that storage.keys_url names.\n"


class KeysTarget(StrEnum):
    """Where the keys of a home can be moved to."""

    DATABASE = "database"
    HOME = "home"


def mark_database(home: Home) -> None:
    """Note that the vaults are in a database."""
    write_atomic(home.postgres_mark_file, _TEXT)


def forget_database(home: Home) -> None:
    """Note that the vaults are files."""
    home.postgres_mark_file.unlink(missing_ok=True)
    sync_folder(home.root)


def mark_split(home: Home) -> None:
    """Note that vaults may be in a second place, such as a database while the catalog is a file."""
    write_atomic(home.split_mark_file, _SPLIT)


def forget_split(home: Home) -> None:
    """Note that all vaults are beside the catalog."""
    home.split_mark_file.unlink(missing_ok=True)
    sync_folder(home.root)


def mark_keys(home: Home) -> None:
    """Note that the keys are in a keys database."""
    write_atomic(home.keys_mark_file, _KEYS)


def forget_keys(home: Home) -> None:
    """Note that the keys are in a file."""
    home.keys_mark_file.unlink(missing_ok=True)
    sync_folder(home.root)
