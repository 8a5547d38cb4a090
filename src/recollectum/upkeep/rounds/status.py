"""Reports each round: its interval, last run, next run and result."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from recollectum.domain.records import dataclass
from recollectum.settings.model import Settings
from recollectum.storage.tables.catalog import rounds
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.upkeep.rounds.scheduler import NAMES, intervals


class HasHomeAdmin(Protocol):
    """An open home, such as `Recollectum` for the process owner."""

    @property
    def admin(self) -> HomeAdmin:
        """The services for maintenance of the whole home."""
        ...

    @property
    def settings(self) -> Settings:
        """The effective settings."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStatus:
    """One kind of upkeep, for the whole home or for one vault."""

    name: str
    #: None for the whole home.
    owner: str | None
    #: None when the settings turn it off.
    every_seconds: float | None
    #: None when it never ran.
    last_run: datetime | None
    #: The latest time of the next run, while a daemon runs; sooner after a write to the vault.
    next_run: datetime | None
    #: Counts by name, never content.
    result: Mapping[str, int]
    #: Why it failed, in a sentence.
    trouble: str | None
    #: For a vault, failures in a row; for the home, the number of failing vaults.
    failures: int


def list_rounds(recollectum: HasHomeAdmin) -> list[RoundStatus]:
    """Return every round of the home, each followed by its vaults, by owner."""
    admin = recollectum.admin
    rows = admin.catalog.read(rounds.everything)
    owners = {entry.id: str(entry.owner) for entry in admin.entries()}
    wanted = intervals(recollectum.settings)
    found: list[RoundStatus] = []
    for name in NAMES:
        every = wanted[name]
        seconds = every.total_seconds() if every else None
        of_name = [row for row in rows if row.name == name]
        home = next((row for row in of_name if row.vault is None), None)
        found.append(_round(name, None, seconds, home))
        of_vaults = [(owners[row.vault], row) for row in of_name if row.vault in owners]
        found += [_round(name, owner, seconds, row) for owner, row in sorted(of_vaults, key=lambda one: one[0])]
    return found


def _round(name: str, owner: str | None, every_seconds: float | None, row: rounds.RoundRow | None) -> RoundStatus:
    return RoundStatus(
        name=name,
        owner=owner,
        every_seconds=every_seconds,
        last_run=row.started_at if row else None,
        next_run=row.next_at if row and every_seconds else None,
        result=row.counts if row else {},
        trouble=row.trouble if row else None,
        failures=row.failures if row else 0,
    )
