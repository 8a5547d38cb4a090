"""Retention: the hourly sweep of every vault, and the timer that says when the next one is due."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.domain.errors import StorageError
from recollect.domain.ids import Clock
from recollect.storage.tables.sweeps import Sweep, SweepState
from recollect.vault.vault import Vault

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What retention did in one vault."""

    owner: str
    #: None when the vault could not be swept.
    sweep: Sweep | None
    trouble: str | None = None

    @property
    def needs_confirmation(self) -> bool:
        """Whether a person must agree before this vault's first memories are destroyed."""
        return self.sweep is not None and self.sweep.state is SweepState.NEEDS_CONFIRMATION


def run(vaults: Iterable[Vault]) -> list[Kept]:
    """Sweep each vault once; one that cannot be swept keeps no other from it."""
    return [_keep(vault) for vault in vaults]


def _keep(vault: Vault) -> Kept:
    owner = str(vault.owner)
    try:
        return Kept(owner=owner, sweep=vault.trash.sweep())
    except StorageError as error:
        return Kept(owner=owner, sweep=None, trouble=str(error))


class RetentionTimer:
    """When the next sweep is due in a program that stays open; the program calls `tick` as often as it likes.

    Nothing is lost with the program: the first tick after a start sweeps what became due in between.
    """

    def __init__(self, vaults: Callable[[], Iterable[Vault]], clock: Clock, every: timedelta = HOUR) -> None:
        self._vaults = vaults
        self._clock = clock
        self._every = every
        self._last: datetime | None = None

    def next_due(self) -> datetime:
        """When the next tick sweeps."""
        return self._clock() if self._last is None else self._last + self._every

    def tick(self) -> list[Kept]:
        """Sweep all vaults if an hour has passed since the last time, or none has been; else do nothing."""
        now = self._clock()
        # A clock that was set back must not stop the sweeps until it has caught up.
        if self._last is not None and self._last <= now < self._last + self._every:
            return []
        self._last = now
        return run(self._vaults())
