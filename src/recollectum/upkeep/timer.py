"""The idle timer of an agent or a daemon: re-armed by each turn, it sweeps when a conversation has fallen silent."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from recollectum.domain.ids import Clock


class IdleTimer:
    """When conversations that somebody watches fall silent, and what is done then.

    It holds nothing that a crash could lose: the start-up sweep finds the same conversations in the vault.
    """

    def __init__(self, idle: timedelta, sweep: Callable[[], object], clock: Clock) -> None:
        self._idle = idle
        self._sweep = sweep
        self._clock = clock
        self._due: dict[str, datetime] = {}
        self._lock = threading.Lock()

    def turn(self, session_id: str) -> None:
        """Arm the timer of a session anew, because something was said in it."""
        with self._lock:
            self._due[session_id] = self._clock() + self._idle

    def stop(self, session_id: str) -> None:
        """Watch a session no longer: it was ended or reset."""
        with self._lock:
            self._due.pop(session_id, None)

    def next_due(self) -> datetime | None:
        """When the first of them falls silent, or None while nothing is watched."""
        with self._lock:
            return min(self._due.values(), default=None)

    def tick(self) -> list[str]:
        """Sweep if a conversation has fallen silent; which ones did."""
        now = self._clock()
        with self._lock:
            silent = [session_id for session_id, due in self._due.items() if due <= now]
            for session_id in silent:
                del self._due[session_id]
        if silent:
            self._sweep()
        return silent
