"""Keeps other programs out of a home whose catalog is moved, and remembers a move that is decided but not finished."""

import json
from typing import NamedTuple

from recollectum.domain.errors import Damaged, LockHeld
from recollectum.home.files import read_regular, sync_folder, write_atomic
from recollectum.home.locks import Lock
from recollectum.home.paths import Home

_MOST_BYTES = 65536


class MoveMark(NamedTuple):
    """A move whose copies are complete: from here on the vaults are in the new place."""

    #: The address of the new place as the settings have it, which may name a variable; empty for files.
    url: str
    vault_ids: tuple[str, ...]


def one_move_lock(home: Home) -> Lock:
    """Return the lock that a move holds from its beginning to its end: there is one at a time."""
    return Lock(home.locks / "one-move.lock")


def move_lock(home: Home) -> Lock:
    """Return the lock that a move holds while it changes over the catalog, which nobody else may use then."""
    return Lock(home.locks / "move.lock")


def check_not_moving(home: Home) -> None:
    """Raise while the catalog is moved. Call it after it is open: a move first locks, then looks who has it open."""
    if (holder := move_lock(home).holder()) is not None:
        raise LockHeld(f"the catalog of {home.root} is being moved by process {holder.pid}; try again when it is done")


def write_mark(home: Home, mark: MoveMark) -> None:
    """Decide a move."""
    write_atomic(home.move_mark_file, json.dumps(mark._asdict()).encode() + b"\n")


def read_mark(home: Home) -> MoveMark | None:
    """Return the move that is decided and not finished."""
    if not home.move_mark_file.exists():
        return None
    try:
        found = json.loads(read_regular(home.move_mark_file, _MOST_BYTES))
        return MoveMark(str(found["url"]), tuple(str(one) for one in found["vault_ids"]))
    except (ValueError, KeyError, TypeError):
        raise Damaged(
            f"{home.move_mark_file} cannot be read; write into it where the vaults are, or restore a backup"
        ) from None


def forget_mark(home: Home) -> None:
    """Note that the move is finished."""
    home.move_mark_file.unlink(missing_ok=True)
    sync_folder(home.root)
