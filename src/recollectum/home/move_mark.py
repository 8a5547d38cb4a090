"""Lets one move run at a time, and remembers where an unfinished one leads."""

import json

from recollectum.domain.errors import Damaged
from recollectum.home.files import read_regular, sync_folder, write_atomic
from recollectum.home.locks import Lock
from recollectum.home.paths import Home

_MOST_BYTES = 65536


def one_move_lock(home: Home) -> Lock:
    """Return the lock that a move holds from its beginning to its end: there is one at a time."""
    return Lock(home.locks / "one-move.lock")


def write_mark(home: Home, url: str) -> None:
    """Remember the address that all vaults are being moved to, as the settings have it; empty for files."""
    write_atomic(home.move_mark_file, json.dumps({"url": url}).encode() + b"\n")


def read_mark(home: Home) -> str | None:
    """Return where an unfinished move leads; None when there is none."""
    if not home.move_mark_file.exists():
        return None
    try:
        return str(json.loads(read_regular(home.move_mark_file, _MOST_BYTES))["url"])
    except (ValueError, KeyError, TypeError):
        raise Damaged(
            f"{home.move_mark_file} cannot be read; delete it, and repeat `recollectum move` with --to"
        ) from None


def forget_mark(home: Home) -> None:
    """Note that the move is finished."""
    home.move_mark_file.unlink(missing_ok=True)
    sync_folder(home.root)
