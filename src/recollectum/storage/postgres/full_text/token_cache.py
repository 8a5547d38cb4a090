"""Keeps the tokens of one vault in memory, and reads the rows that changed since."""

import threading
from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from recollectum.storage.port import Params, Row
from recollectum.storage.postgres.full_text.token_lists import TokenLists

#: Rows per read, so that what they arrive in stays small beside the stored arrays.
_PAGE = 16_384
#: A reader may see the state before the newest one; the states share their segments.
_MOST_STATES = 2
_ALL = "SELECT number, terms FROM search WHERE terms IS NOT NULL AND number > :after ORDER BY number LIMIT :most"
_CHANGED = "SELECT number, terms FROM search WHERE stamp > :seen AND number > :after ORDER BY number LIMIT :most"


class Rows(Protocol):
    """A transaction that can read rows."""

    def rows(self, sql: str, params: Params) -> list[Row]:
        """Run a statement, and return its rows."""
        ...


class TokenCache:
    """The tokens of one vault in its last states, each named by the number of changes that were made to the vault."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[int, TokenLists] = {}

    @property
    def held_bytes(self) -> int:
        """Return how many bytes the newest state takes in memory."""
        states = self._states
        return states[max(states)].held_bytes if states else 0

    def committed(self, tx: Rows, changes: int) -> TokenLists:
        """Return the tokens that a reader sees after so many changes; read what is not yet known."""
        found = self._states.get(changes)
        if found is not None:
            return found
        # Threads that need the same rows wait for the first one.
        with self._lock:
            found = self._states.get(changes)
            if found is None:
                found = self._read(tx, changes)
                self._keep(changes, found)
            return found

    def uncommitted(self, tx: Rows, changes: int) -> TokenLists:
        """Return the tokens that a writer sees; its change has this number, and may yet be undone."""
        with self._lock:
            return self._read(tx, changes)

    def clear(self) -> None:
        """Forget everything, so that the tokens of removed chunks are not even in memory."""
        with self._lock:
            self._states = {}

    def _read(self, tx: Rows, changes: int) -> TokenLists:
        seen = max((one for one in self._states if one < changes), default=None)
        lists = TokenLists() if seen is None else self._states[seen]
        for page in _pages(tx, seen):
            lists = lists.changed(page)
        return lists

    def _keep(self, changes: int, lists: TokenLists) -> None:
        newest = sorted({**self._states, changes: lists}.items())[-_MOST_STATES:]
        # Replaced, not changed: other threads read it without the lock.
        self._states = dict(newest)


def _pages(tx: Rows, seen: int | None) -> Iterator[Sequence[tuple[int, bytes | None]]]:
    after = 0
    while True:
        params: Params = {"after": after, "most": _PAGE}
        page = tx.rows(_ALL, params) if seen is None else tx.rows(_CHANGED, {**params, "seen": seen})
        if page:
            yield cast("Sequence[tuple[int, bytes | None]]", page)
        if len(page) < _PAGE:
            return
        after = page[-1][0]
