"""Runs one kind of upkeep over all vaults or the home, isolates failures, and records the result in the catalog."""

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import RecollectumError
from recollectum.storage.tables.catalog import rounds
from recollectum.storage.tables.catalog.rounds import RoundRow
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.upkeep.rounds.tasks import RoundContext, RoundResult, Work
from recollectum.upkeep.rounds.timing import is_changed, is_due, next_look, retry_at
from recollectum.upkeep.rounds.watchers import Watcher
from recollectum.vault.vault import Vault

#: A round that comes often and does nothing is written down no more often than this.
_NOTED_EVERY = timedelta(minutes=1)


def run_isolated(work: Callable[[], RoundResult]) -> RoundResult:
    """What the work did, or why it could not: in a sentence, and without content."""
    try:
        return work()
    except RecollectumError as error:
        return RoundResult(trouble=str(error))
    except OSError as error:
        return RoundResult(trouble=f"the system refused: {error.strerror or type(error).__name__}")
    except Exception as error:  # noqa: BLE001  (a fault in one round must stop neither the others nor the program)
        # Its words could hold what somebody said.
        return RoundResult(trouble=f"it ended with an unexpected {type(error).__name__}; please report it")


def to_row(
    name: str, every: timedelta, started: datetime, finished: datetime, done: RoundResult, last: RoundRow | None
) -> RoundRow:
    """How a round went, and when it comes again; for the home as a whole until a vault is named."""
    failures = (last.failures if last else 0) + 1 if done.trouble else 0
    again = retry_at(finished, every, failures) if failures else next_look(finished, every, done.next_at, done.latest)
    return RoundRow(
        name=name,
        vault=None,
        every_seconds=every.total_seconds(),
        started_at=started,
        finished_at=finished,
        next_at=again,
        failures=failures,
        counts=done.counts,
        trouble=done.trouble,
    )


def sum_rows(
    name: str, every: timedelta, started: datetime, finished: datetime, made: Iterable[RoundRow], failing: int
) -> RoundRow:
    """How a round went over all vaults: the sums, and how many vaults it cannot look after now."""
    rows = list(made)
    counts: Counter[str] = Counter(vaults=len(rows))
    for row in rows:
        counts.update(row.counts)
    vaults = "1 vault" if failing == 1 else f"{failing} vaults"
    return RoundRow(
        name=name,
        vault=None,
        every_seconds=every.total_seconds(),
        started_at=started,
        finished_at=finished,
        next_at=finished + every,
        failures=failing,
        counts=counts,
        trouble=f"{vaults} could not be looked after, and will be tried again" if failing else None,
    )


def record_total(admin: HomeAdmin, before: RoundRow | None, row: RoundRow) -> None:
    """Write down how a round went in the home, unless it says nothing new and the last one is young."""
    quiet = not row.counts.get("vaults")
    if quiet and before and before.trouble == row.trouble:
        if row.started_at - before.started_at < _NOTED_EVERY and before.every_seconds == row.every_seconds:
            return
        # What it did when there was something to do says more than that there is nothing.
        row = replace(row, counts=before.counts)
    admin.catalog.write(lambda tx: rounds.save(tx, row))


OpenVault: TypeAlias = Callable[[Owner], Vault]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepRuntime:
    """What all rounds of one home stand on."""

    admin: HomeAdmin
    open_vault: OpenVault
    #: Set when the program ends: a round stops after the vault it is at.
    stop: threading.Event
    #: How long a write to a vault may take from its first byte to the moment when others see it.
    settling: timedelta = timedelta(minutes=1)

    #: The vaults as they were last read, and the state of the catalog then.
    _known: "list[tuple[Hashable, list[VaultEntry]]]" = field(default_factory=list[tuple[Hashable, list[VaultEntry]]])

    def entries(self) -> list[VaultEntry]:
        """All vaults; read again only after something was written to the catalog, because it is asked every second."""
        state = self.admin.catalog.read(lambda tx: tx.state)
        known = self._known[-1] if self._known else None
        if known is None or known[0] != state:
            self._known[:] = [known := (state, self.admin.entries())]
        return known[1]

    def seen(self, entry: VaultEntry) -> str:
        """The write mark of a vault, which tells whether somebody wrote to it."""
        return self.marks([entry])[entry.id]

    def marks(self, entries: Iterable[VaultEntry]) -> dict[str, str]:
        """The write marks of several vaults, which an engine may look up in one go."""
        return self.admin.engine.write_marks((entry.id for entry in entries), self.settling)


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

    def __init__(self, upkeep: UpkeepRuntime, name: str, every: timedelta, work: Work) -> None:
        self.name = name
        self.every = every
        self._upkeep = upkeep
        self._work = work

    def make(self, *, force: bool = False) -> RoundRow:
        """Do the work where it is due, or everywhere; one vault that cannot be worked in keeps no other from it."""
        admin = self._upkeep.admin
        started = admin.clock()
        last = admin.catalog.read(lambda tx: rounds.by_vault(tx, self.name))
        made: dict[str, RoundRow] = {}
        entries = self._upkeep.entries()
        marks = self._upkeep.marks(entries)
        for entry in entries:
            if self._upkeep.stop.is_set():
                break
            if force or is_due(last.get(entry.id), admin.clock(), marks[entry.id]):
                made[entry.id] = self._visit(entry, last.get(entry.id))
        standing = {**{vault: row for vault, row in last.items() if vault}, **made}
        failing = sum(row.trouble is not None for row in standing.values())
        row = sum_rows(self.name, self.every, started, admin.clock(), made.values(), failing)
        record_total(admin, last.get(None), row)
        return row

    def _visit(self, entry: VaultEntry, last: RoundRow | None) -> RoundRow:
        admin = self._upkeep.admin
        started = admin.clock()
        look = RoundContext(now=started, every=self.every, since=last.started_at if last else None)
        done = run_isolated(lambda: self._work(self._upkeep.open_vault(entry.owner), look))
        row = to_row(self.name, self.every, started, admin.clock(), done, last)
        # Only now: what the round itself wrote is no reason to come back.
        row = replace(row, vault=entry.id, seen=self._upkeep.seen(entry))
        admin.catalog.write(lambda tx: rounds.save(tx, row))
        return row


class HomeDuty:
    """One piece of work, done for the home as a whole."""

    def __init__(self, upkeep: UpkeepRuntime, name: str, every: timedelta, work: Callable[[], RoundResult]) -> None:
        self.name = name
        self.every = every
        self._upkeep = upkeep
        self._work = work

    def make(self, *, force: bool = False) -> RoundRow:
        """Do the work if it is due, also by what the last program noted."""
        admin = self._upkeep.admin
        last = admin.catalog.read(lambda tx: rounds.by_vault(tx, self.name)).get(None)
        started = admin.clock()
        if last and not force and last.started_at <= started < last.next_at:
            return last
        done = run_isolated(self._work)
        row = to_row(self.name, self.every, started, admin.clock(), replace(done, latest=self.every), last)
        admin.catalog.write(lambda tx: rounds.save(tx, row))
        return row


MakeWatcher: TypeAlias = Callable[[Vault], Watcher]
#: Under which name the rows say how many places are watched.
PLACES = "places"


@dataclass(slots=True)
class _Watched:
    """One vault, as it is watched."""

    watcher: Watcher
    seen: str
    places: int


class WatchDuty:
    """Watches one kind of files for all vaults; a vault with none is opened only after somebody wrote to it."""

    def __init__(
        self,
        upkeep: UpkeepRuntime,
        name: str,
        every: timedelta,
        make_watcher: MakeWatcher,
        seen: Callable[[VaultEntry], str],
    ) -> None:
        self.name = name
        self.every = every
        self._upkeep = upkeep
        #: A state that changes at the latest when there is something to watch in a vault that had nothing.
        self._seen = seen
        self._make_watcher = make_watcher
        self._watched: dict[str, _Watched] = {}
        #: What the catalog knows; nobody else writes to it while this program is the daemon.
        self._last: dict[str | None, RoundRow] | None = None

    def make(self, *, force: bool = False) -> RoundRow:
        """Look once at the files of each vault that has any; with `force` take all of them over."""
        admin = self._upkeep.admin
        started = admin.clock()
        if self._last is None or force:
            self._last = dict(admin.catalog.read(lambda tx: rounds.by_vault(tx, self.name)))
            self._watched.clear()
        last, made = self._last, list[RoundRow]()
        entries = self._upkeep.entries()
        for entry in entries:
            if self._upkeep.stop.is_set():
                break
            row = self._visit(entry, last.get(entry.id), force=force)
            if row:
                made.append(row)
                last[entry.id] = row
        failing = sum(1 for entry in entries if (row := last.get(entry.id)) and row.trouble)
        whole = sum_rows(self.name, self.every, started, admin.clock(), made, failing)
        before = last.get(None)
        record_total(admin, before, whole)
        if made or before is None or whole.started_at - before.started_at >= timedelta(minutes=1):
            last[None] = whole
        return whole

    def _visit(self, entry: VaultEntry, last: RoundRow | None, *, force: bool) -> RoundRow | None:
        """What came of a look at one vault; None when nothing did."""
        started, seen = self._upkeep.admin.clock(), self._seen(entry)
        resting = last is not None and last.failures > 0 and last.started_at <= started < last.next_at
        if not force and (resting or self._is_empty(entry, last, seen)):
            return None
        found = run_isolated(lambda: self._look(entry, seen))
        if found.trouble:
            # Begun anew at the next try: what was seen may not have been taken over.
            self._watched.pop(entry.id, None)
        elif last and not last.trouble and found.counts == {PLACES: last.counts.get(PLACES)}:
            return None
        return self._noted(entry, started, found, last)

    def _look(self, entry: VaultEntry, seen: str) -> RoundResult:
        watched = self._refreshed(entry, seen)
        counts = watched.watcher.step() if watched.places else None
        return RoundResult(counts={**(counts or {}), PLACES: watched.places})

    def _noted(self, entry: VaultEntry, started: datetime, found: RoundResult, last: RoundRow | None) -> RoundRow:
        admin = self._upkeep.admin
        row = to_row(self.name, self.every, started, admin.clock(), found, last)
        row = replace(row, vault=entry.id, seen=self._seen(entry))
        admin.catalog.write(lambda tx: rounds.save(tx, row))
        return row

    def _is_empty(self, entry: VaultEntry, last: RoundRow | None, seen: str) -> bool:
        """Whether the vault is known to have nothing that is watched, by this program or by the one before it."""
        known = self._watched.get(entry.id)
        if known:
            return known.places == 0 and not is_changed(known.seen, seen)
        if last is None or last.trouble:
            return False
        return last.counts.get(PLACES) == 0 and not is_changed(last.seen, seen)

    def _refreshed(self, entry: VaultEntry, seen: str) -> _Watched:
        watched = self._watched.get(entry.id)
        if watched is None:
            watcher = self._make_watcher(self._upkeep.open_vault(entry.owner))
            watched = self._watched[entry.id] = _Watched(watcher, seen, watcher.refresh())
        elif is_changed(watched.seen, seen):
            watched.seen, watched.places = seen, watched.watcher.refresh()
        return watched
