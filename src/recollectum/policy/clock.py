"""Determines the time of a vault when the wall clock may be wrong.

A clock that goes back must not restore expired memories: time never falls below the latest trusted time. A clock that
jumps ahead must not delete everything: a jump longer than a vault is plausibly unused is not trusted until a person
confirms it, or until the new time has run on for a week.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from recollectum.domain.records import dataclass

#: How long a new time must run on, without another jump, before it is trusted.
TRIAL = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockState:
    """The state of a vault's clock."""

    #: The latest trusted time.
    floor: datetime
    #: Since when, and until when, the clock has shown an untrusted time.
    leap_from: datetime | None = None
    leap_seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class ClockReading:
    """The two times of a vault: one for a person's own deadlines, and one for the policy's."""

    now: datetime
    policy_now: datetime

    @property
    def held(self) -> bool:
        """Return whether the time is in doubt, so that nothing may be moved or purged."""
        return self.now != self.policy_now


def certain_reading(now: datetime) -> ClockReading:
    """Return a reading that is not in doubt."""
    return ClockReading(now, now)


def observe(state: ClockState, wall: datetime, leap: timedelta) -> tuple[ClockState, ClockReading]:
    """Return the new clock state after reading the wall clock, and the time to use."""
    if wall <= state.floor:
        return ClockState(floor=state.floor), certain_reading(state.floor)
    if wall - state.floor <= leap or _proven(state, wall, leap):
        return ClockState(floor=wall), certain_reading(wall)
    continues = state.leap_from is not None and state.leap_seen is not None and _continues(state.leap_seen, wall, leap)
    doubted = replace(state, leap_from=state.leap_from if continues else wall, leap_seen=wall)
    return doubted, ClockReading(wall, state.floor)


def accept(state: ClockState, wall: datetime) -> ClockState:
    """Return the state after a person has confirmed that the clock is right."""
    return ClockState(floor=max(state.floor, wall))


def _continues(seen: datetime, wall: datetime, leap: timedelta) -> bool:
    return seen <= wall <= seen + leap


def _proven(state: ClockState, wall: datetime, leap: timedelta) -> bool:
    if state.leap_from is None or state.leap_seen is None:
        return False
    return _continues(state.leap_seen, wall, leap) and wall - state.leap_from >= TRIAL
