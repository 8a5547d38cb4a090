"""Marks a vault file, or a catalog, whose rows were moved away, and refuses its transactions from then on.

The mark is a number in the header of the file. It is written in the transaction that ends the move, so every later
transaction of any process sees it. A catalog that a move is still copying has a mark too, which is refused as well.
"""

from pathlib import Path
from weakref import WeakKeyDictionary

import apsw

from recollectum.domain.errors import Moved

#: The letters "move"; other files of ours have small numbers.
_MOVED = 0x6D6F7665
#: The statement that marks a file.
MARK = f"PRAGMA user_version = {_MOVED}"
#: The letters "come".
_COMING = 0x636F6D65
#: The statements that mark a catalog as one that is copied, and as one that is used.
MARK_COMING = f"PRAGMA user_version = {_COMING}"
UNMARK = "PRAGMA user_version = 0"
#: Returns one row with 1 for a catalog that is copied.
FIND_COMING = f"SELECT user_version = {_COMING} FROM pragma_user_version"  # noqa: S608 - a constant


class MovedCheck:
    """Refuses the transactions of a file that was moved; the file is looked at only after a commit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Weak, so that a connection that is closed is not kept.
        self._seen: WeakKeyDictionary[apsw.Connection, int] = WeakKeyDictionary()

    def check(self, connection: apsw.Connection) -> None:
        """Raise if the snapshot of this connection is that of a vault that was moved."""
        found = connection.data_version("main")
        if self._seen.get(connection) != found:
            if connection.pragma("user_version") in (_MOVED, _COMING):
                raise Moved(f"{self._path} was moved to a database while it was open; open the home again")
            self._seen[connection] = found

    def note(self, connection: apsw.Connection) -> None:
        """Note a commit of this connection itself, which is no reason to look."""
        self._seen[connection] = connection.data_version("main")


def is_marked(connection: apsw.Connection) -> bool:
    """Return whether a file is one that was moved."""
    return connection.pragma("user_version") == _MOVED


def is_coming(connection: apsw.Connection) -> bool:
    """Return whether a catalog is one that a move is copying."""
    return connection.pragma("user_version") == _COMING
