"""Caches lists of sessions until the vault changes or a time limit passes."""

import threading
import time
from collections.abc import Callable, Hashable

from recollectum.domain.session import Session

#: Lists that are kept at once; the oldest goes first.
_MOST = 16


class SessionCache:
    """The lists of one vault, each good for one state of the vault."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: dict[Hashable, tuple[Hashable, float, list[Session]]] = {}
        self._lock = threading.Lock()

    def find(
        self, asked: Hashable, state: Hashable, seconds: float, load: Callable[[], list[Session]]
    ) -> list[Session]:
        """The list for a question in that state of the vault, loaded when it is not at hand."""
        if seconds <= 0:
            return load()
        with self._lock:
            self._drop_old(seconds)
            found = self._kept.get(asked)
        if found is None or found[0] != state:
            loaded = load()
            with self._lock:
                self._kept.pop(asked, None)
                self._kept[asked] = found = (state, self._now(), loaded)
                while len(self._kept) > _MOST:
                    del self._kept[next(iter(self._kept))]
        # A copy: what the caller does with its list is its own affair.
        return list(found[2])

    def clear(self) -> None:
        """Keep nothing, so that what was destroyed is not even in memory."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        """How many lists are kept."""
        return len(self._kept)

    def _drop_old(self, seconds: float) -> None:
        oldest = self._now() - seconds
        self._kept = {asked: kept for asked, kept in self._kept.items() if kept[1] > oldest}
