"""What time it is for a vault, when the clock on the wall may be wrong.

A clock that goes back must not bring back what had expired: time never falls below the latest time that was
believed. A clock that leaps ahead must not delete everything: a leap longer than a vault is plausibly left
alone is not believed until a person says so, or until the new time has run on for a week.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

#: How long a new time must run on, without another leap, before it is believed.
TRIAL = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockState:
    """What a vault knows about the clock."""

    #: The latest time that is believed.
    floor: datetime
    #: Since when, and until when, the clock has shown a time that is not believed.
    leap_from: datetime | None = None
    leap_seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class ClockReading:
    """What the clock says: for a person's own deadlines, and for the policy's."""

    now: datetime
    policy_now: datetime

    @property
    def held(self) -> bool:
        """Whether the time is in doubt, so that nothing may be moved or destroyed."""
        return self.now != self.policy_now


def certain_reading(now: datetime) -> ClockReading:
    """A reading that is not in doubt."""
    return ClockReading(now, now)


def observe(state: ClockState, wall: datetime, leap: timedelta) -> tuple[ClockState, ClockReading]:
    """What the vault knows after a look at the clock, and the time it goes by."""
    if wall <= state.floor:
        return ClockState(floor=state.floor), certain_reading(state.floor)
    if wall - state.floor <= leap or _proven(state, wall, leap):
        return ClockState(floor=wall), certain_reading(wall)
    continues = state.leap_from is not None and state.leap_seen is not None and _continues(state.leap_seen, wall, leap)
    doubted = replace(state, leap_from=state.leap_from if continues else wall, leap_seen=wall)
    return doubted, ClockReading(wall, state.floor)


def accept(state: ClockState, wall: datetime) -> ClockState:
    """The state after a person has said that the clock is right."""
    return ClockState(floor=max(state.floor, wall))


def _continues(seen: datetime, wall: datetime, leap: timedelta) -> bool:
    return seen <= wall <= seen + leap


def _proven(state: ClockState, wall: datetime, leap: timedelta) -> bool:
    if state.leap_from is None or state.leap_seen is None:
        return False
    return _continues(state.leap_seen, wall, leap) and wall - state.leap_from >= TRIAL
