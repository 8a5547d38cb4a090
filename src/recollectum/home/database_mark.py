"""Notes in a home that its vaults are in a PostgreSQL database, so that none are looked for in files."""

from recollectum.home.files import sync_folder, write_atomic
from recollectum.home.paths import Home

_TEXT = b"The vaults of this home are in the PostgreSQL database that storage.url names.\n"


def mark_database(home: Home) -> None:
    """Note that the vaults are in a database."""
    write_atomic(home.postgres_mark_file, _TEXT)


def forget_database(home: Home) -> None:
    """Note that the vaults are files."""
    home.postgres_mark_file.unlink(missing_ok=True)
    sync_folder(home.root)
