"""Keeps a vault's time monotonic: stores the latest time seen, so that no wall clock can turn it back."""

import json
import threading
from datetime import datetime, timedelta

from recollectum.domain.ids import Clock
from recollectum.policy.clock import ClockReading, ClockState, accept, observe
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories
from recollectum.storage.tables.trail import meta
from recollectum.storage.times import micros, micros_or_none, moment, moment_or_none

_META_KEY = "clock"
#: How far the stored time may lag behind: one write a minute is enough.
_LAG = timedelta(minutes=1)


class VaultClock:
    """Reads the wall clock, corrected by the latest time that the vault has seen."""

    def __init__(self, wall: Clock, leap: timedelta) -> None:
        self._wall = wall
        self._leap = leap
        self._kept: ClockState | None = None
        self._state: ClockState | None = None
        self._lock = threading.Lock()

    def reading(self, tx: Tx) -> ClockReading:
        """Return the time to use in this transaction."""
        with self._lock:
            # Read each time: another process may have seen a later time, or an operator may have accepted the clock.
            self._kept = _load(tx)
            wall = self._wall()
            known = _newer_state(self._kept, self._state) or ClockState(floor=wall)
            self._state, reading = observe(known, wall, self._leap)
            return reading

    def crossed(self, tx: Tx, reading: ClockReading) -> bool:
        """Return whether a deadline has passed that the vault has not recorded as passed."""
        with self._lock:
            kept = self._kept
        if kept is None or reading.now <= kept.floor:
            return False
        if memories.any_due_between(tx, kept.floor, reading.now):
            return True
        # A later deadline of a memory that is due already and was not swept.
        return reading.now - kept.floor >= _LAG and memories.any_due(tx, reading.now)

    def note(self, tx: Tx, *, always: bool = False) -> None:
        """Store the time when the stored one lags too far behind."""
        with self._lock:
            state, kept = self._state, self._kept
        if state is not None and (always or kept is None or _lags(kept, state)):
            meta.save(tx, _META_KEY, _to_json(state))

    def accept(self, tx: Tx) -> datetime:
        """Accept the wall clock, whatever it shows; return the time used before."""
        self.reading(tx)
        with self._lock:
            before = self._state or ClockState(floor=self._wall())
            self._state = accept(before, self._wall())
            meta.save(tx, _META_KEY, _to_json(self._state))
        return before.floor


def _newer_state(kept: ClockState | None, seen: ClockState | None) -> ClockState | None:
    """Return the newer of the stored clock state and the one this process has seen."""
    if kept is None or seen is None:
        return kept or seen
    return seen if seen.floor > kept.floor else kept


def _lags(kept: ClockState, state: ClockState) -> bool:
    leap = (kept.leap_from, kept.leap_seen) != (state.leap_from, state.leap_seen)
    return state.floor - kept.floor >= _LAG or leap


def _load(tx: Tx) -> ClockState | None:
    text = meta.find_kept(tx, _META_KEY)
    if text is None:
        return None
    kept = json.loads(text)
    return ClockState(
        floor=moment(kept["floor"]),
        leap_from=moment_or_none(kept["leap_from"]),
        leap_seen=moment_or_none(kept["leap_seen"]),
    )


def _to_json(state: ClockState) -> str:
    return json.dumps(
        {
            "floor": micros(state.floor),
            "leap_from": micros_or_none(state.leap_from),
            "leap_seen": micros_or_none(state.leap_seen),
        }
    )
