"""Whether anybody else, in any process, has a database file open."""

from datetime import timedelta
from pathlib import Path

from recollectum.domain.errors import Busy
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.failures import translated

_PATIENCE = timedelta(seconds=0.3)


def is_alone(path: Path, key: bytes | None) -> bool:
    """True when no connection but ours is open: only then does SQLite let go of the log."""
    connection = connect(path, key=key, busy_timeout=_PATIENCE)
    try:
        with translated(path, encrypted=key is not None):
            return connection.pragma("journal_mode", "delete") == "delete"
    except Busy:
        return False
    finally:
        connection.close()
