"""Rounds of upkeep over all vaults of a home: what is due is done, what fails is kept apart, and all of it is noted.

A round looks at each vault's files from outside, and opens those alone that somebody wrote to, or whose time has come.
What came of it and when it comes again stands in the catalog, so that a restart goes on from there and other processes
can see it.
"""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol, TypeAlias

from recollectum.domain.owner import Owner
from recollectum.storage.tables import rounds
from recollectum.storage.tables.rounds import RoundRow
from recollectum.storage.tables.vaults import VaultEntry
from recollectum.upkeep.backup_grounds import Grounds
from recollectum.upkeep.rounds_due import is_due
from recollectum.upkeep.rounds_noting import attempted, note_total, seen_state, to_row, total
from recollectum.upkeep.rounds_work import Done, Look, Work
from recollectum.vault.vault import Vault

OpenVault: TypeAlias = Callable[[Owner], Vault]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What all rounds of one home stand on."""

    grounds: Grounds
    open_vault: OpenVault
    #: Set when the program ends: a round stops after the vault it is at.
    stop: threading.Event
    #: How long a write to a vault may take from its first byte to the moment when others see it.
    settling: timedelta = timedelta(minutes=1)

    #: The vaults as they were last read, and the state of the catalog then.
    _known: "list[tuple[Hashable, list[VaultEntry]]]" = field(default_factory=list[tuple[Hashable, list[VaultEntry]]])

    def entries(self) -> list[VaultEntry]:
        """All vaults; read again only after something was written to the catalog, because it is asked every second."""
        state = self.grounds.catalog.read(lambda tx: tx.state)
        known = self._known[-1] if self._known else None
        if known is None or known[0] != state:
            self._known[:] = [known := (state, self.grounds.entries())]
        return known[1]

    def seen(self, entry: VaultEntry) -> str:
        """The state of a vault's files, which tells whether somebody wrote to it."""
        return seen_state(self.grounds, entry, self.settling)


class Duty(Protocol):
    """One kind of upkeep, to be done again and again."""

    @property
    def name(self) -> str:
        """What people call it by."""
        ...

    @property
    def every(self) -> timedelta:
        """How long it rests between two times."""
        ...

    def make(self, *, force: bool = False) -> RoundRow:
        """Do once what is due, or with `force` everything; how it went, which the catalog knows too."""
        ...


class VaultDuty:
    """One piece of work, done in each vault that is due."""

    def __init__(self, upkeep: Upkeep, name: str, every: timedelta, work: Work) -> None:
        self.name = name
        self.every = every
        self._upkeep = upkeep
        self._work = work

    def make(self, *, force: bool = False) -> RoundRow:
        """Do the work where it is due, or everywhere; one vault that cannot be worked in keeps no other from it."""
        grounds = self._upkeep.grounds
        started = grounds.clock()
        last = grounds.catalog.read(lambda tx: rounds.by_vault(tx, self.name))
        made: dict[str, RoundRow] = {}
        for entry in self._upkeep.entries():
            if self._upkeep.stop.is_set():
                break
            if force or is_due(last.get(entry.id), grounds.clock(), self._upkeep.seen(entry)):
                made[entry.id] = self._visit(entry, last.get(entry.id))
        standing = {**{vault: row for vault, row in last.items() if vault}, **made}
        failing = sum(row.trouble is not None for row in standing.values())
        row = total(self.name, self.every, started, grounds.clock(), made.values(), failing)
        note_total(grounds, last.get(None), row)
        return row

    def _visit(self, entry: VaultEntry, last: RoundRow | None) -> RoundRow:
        grounds = self._upkeep.grounds
        started = grounds.clock()
        look = Look(now=started, every=self.every, since=last.started_at if last else None)
        done = attempted(lambda: self._work(self._upkeep.open_vault(entry.owner), look))
        row = to_row(self.name, self.every, started, grounds.clock(), done, last)
        # Only now: what the round itself wrote is no reason to come back.
        row = replace(row, vault=entry.id, seen=self._upkeep.seen(entry))
        grounds.catalog.write(lambda tx: rounds.save(tx, row))
        return row


class HomeDuty:
    """One piece of work, done for the home as a whole."""

    def __init__(self, upkeep: Upkeep, name: str, every: timedelta, work: Callable[[], Done]) -> None:
        self.name = name
        self.every = every
        self._upkeep = upkeep
        self._work = work

    def make(self, *, force: bool = False) -> RoundRow:
        """Do the work if it is due, also by what the last program noted."""
        grounds = self._upkeep.grounds
        last = grounds.catalog.read(lambda tx: rounds.by_vault(tx, self.name)).get(None)
        started = grounds.clock()
        if last and not force and last.started_at <= started < last.next_at:
            return last
        done = attempted(self._work)
        row = to_row(self.name, self.every, started, grounds.clock(), replace(done, latest=self.every), last)
        grounds.catalog.write(lambda tx: rounds.save(tx, row))
        return row
