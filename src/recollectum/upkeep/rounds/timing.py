"""Decides when a round is next due, with exponential backoff after failures, and times idle conversations."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from recollectum.domain.ids import Clock
from recollectum.storage.engine import UNSETTLED

#: Even a vault without writes is checked again after this time.
AT_LATEST = timedelta(hours=1)
_LONGEST_BACKOFF = timedelta(hours=1)
_MOST_DOUBLINGS = 12


def is_changed(before: str, now: str) -> bool:
    """Return whether something may have been written since a state was seen."""
    return before != now or before.endswith(UNSETTLED)


def retry_at(now: datetime, every: timedelta, failures: int) -> datetime:
    """Return when a round is retried after so many failures: the wait doubles each time, up to an hour."""
    steps = min(max(failures - 1, 0), _MOST_DOUBLINGS)
    return now + max(every, min(every * 2**steps, _LONGEST_BACKOFF))


def next_look(now: datetime, every: timedelta, wanted: datetime | None, latest: timedelta = AT_LATEST) -> datetime:
    """Return when a vault is checked again although nobody writes to it: when it asked for it, or later."""
    last = now + max(every, latest)
    return last if wanted is None else min(max(wanted, now + every), last)


class IdleTimer:
    """Detects when watched conversations become idle, and runs the sweep then.

    It holds nothing that a crash could lose: the start-up sweep finds the same conversations in the vault.
    """

    def __init__(self, idle: timedelta, sweep: Callable[[], object], clock: Clock) -> None:
        self._idle = idle
        self._sweep = sweep
        self._clock = clock
        self._due: dict[str, datetime] = {}
        self._lock = threading.Lock()

    def turn(self, session_id: str) -> None:
        """Restart the timer of a session after a message."""
        with self._lock:
            self._due[session_id] = self._clock() + self._idle

    def stop(self, session_id: str) -> None:
        """Stop watching a session that was ended or reset."""
        with self._lock:
            self._due.pop(session_id, None)

    def next_due(self) -> datetime | None:
        """Return when the first session becomes idle, or None while nothing is watched."""
        with self._lock:
            return min(self._due.values(), default=None)

    def tick(self) -> list[str]:
        """Sweep if conversations have become idle; return which ones."""
        now = self._clock()
        with self._lock:
            silent = [session_id for session_id, due in self._due.items() if due <= now]
            for session_id in silent:
                del self._due[session_id]
        if silent:
            self._sweep()
        return silent
