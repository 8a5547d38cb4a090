"""Runs one kind of upkeep over all vaults or the home, isolates failures, and records the result in the catalog."""

import threading
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import RecollectumError
from recollectum.domain.records import dataclass
from recollectum.settings.model import Settings
from recollectum.storage.tables.catalog import rounds
from recollectum.storage.tables.catalog.rounds import RoundRow
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.upkeep.rounds.claims import BATCH, ClaimedVault, Claims, claiming
from recollectum.upkeep.rounds.tasks import RoundContext, RoundResult, Work
from recollectum.upkeep.rounds.timing import is_changed, next_look, retry_at
from recollectum.upkeep.rounds.watchers import Watcher
from recollectum.vault.vault import Vault

#: A frequent round that does nothing is recorded at most this often.
_NOTED_EVERY = timedelta(minutes=1)


def run_isolated(work: Callable[[], RoundResult]) -> RoundResult:
    """Run the work; return its result, or why it failed in a sentence without content."""
    try:
        return work()
    except RecollectumError as error:
        return RoundResult(trouble=str(error))
    except OSError as error:
        return RoundResult(trouble=f"the system refused: {error.strerror or type(error).__name__}")
    except Exception as error:  # noqa: BLE001  (a fault in one round must stop neither the others nor the program)
        # The message could contain a person's text.
        return RoundResult(trouble=f"it ended with an unexpected {type(error).__name__}; please report it")


def to_row(
    name: str, every: timedelta, started: datetime, finished: datetime, done: RoundResult, last: RoundRow | None
) -> RoundRow:
    """Return the row of a round: its result and the next time; for the whole home unless a vault is named."""
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
    """Return the total of a round over all vaults: the sums, and the number of failing vaults."""
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
        trouble=f"{vaults} could not be maintained, and will be tried again" if failing else None,
    )


def record_total(admin: HomeAdmin, before: RoundRow | None, row: RoundRow) -> None:
    """Record the result of a round in the home, unless nothing is new and the last record is recent."""
    quiet = not row.counts.get("vaults")
    if quiet and before and before.trouble == row.trouble:
        if row.started_at - before.started_at < _NOTED_EVERY and before.every_seconds == row.every_seconds:
            return
        # The last result with work in it says more than one without.
        row = replace(row, counts=before.counts)
    admin.catalog.claim(lambda tx: rounds.save(tx, row))


OpenVault: TypeAlias = Callable[[Owner], Vault]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepRuntime:
    """What all rounds of one home use."""

    admin: HomeAdmin
    settings: Settings
    open_vault: OpenVault
    #: Set when the program ends: a round stops after its current vault.
    stop: threading.Event
    #: How long a write to a vault may take until other processes see it.
    settling: timedelta = timedelta(minutes=1)

    #: The vaults as last read, and the state of the catalog then.
    _known: "list[tuple[Hashable, list[VaultEntry]]]" = field(default_factory=list[tuple[Hashable, list[VaultEntry]]])

    #: What the rounds that run now have claimed.
    _claims: list[Claims] = field(default_factory=list[Claims])

    def entries(self) -> list[VaultEntry]:
        """Return all vaults; read again only after a write to the catalog, because this is called every second."""
        state = self.admin.catalog.read(lambda tx: tx.state)
        known = self._known[-1] if self._known else None
        if known is None or known[0] != state:
            self._known[:] = [known := (state, self.admin.entries())]
        return known[1]

    @property
    def lease(self) -> timedelta:
        """How long a claim of this server holds unless it is renewed."""
        return timedelta(seconds=self.settings.daemon.lease_seconds)

    def given_marks(self, vault_ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return the write marks that a statement has to be given: of all vaults, or of these."""
        if self.admin.engine.counts_writes:
            return {}
        wanted = (entry.id for entry in self.entries()) if vault_ids is None else vault_ids
        return self.admin.engine.write_marks(wanted, self.settling)

    @contextmanager
    def claiming(self, name: str, every: timedelta) -> Generator[Claims]:
        """Yield the claims of one round; renew them until the block ends, and then release what is left."""
        with claiming(self.admin, name, every, self.lease) as claims:
            self._claims.append(claims)
            try:
                yield claims
            finally:
                self._claims.remove(claims)

    def release_claims(self) -> None:
        """Release the claims of rounds that still run when the program ends, so that other servers need not wait."""
        for claims in tuple(self._claims):
            # A database that cannot be reached now: the lease runs out by itself.
            with suppress(RecollectumError, OSError):
                claims.release()

    def marks(self, entries: Iterable[VaultEntry]) -> dict[str, str]:
        """Return the write marks of several vaults, each of which changes when somebody writes to its vault."""
        return self.admin.engine.write_marks((entry.id for entry in entries), self.settling)


class Duty(Protocol):
    """One kind of periodic upkeep."""

    @property
    def name(self) -> str:
        """Its public name."""
        ...

    @property
    def every(self) -> timedelta:
        """The interval between two runs."""
        ...

    def make(self, *, force: bool = False) -> RoundRow:
        """Run what is due, or with `force` everything; return the result, which the catalog stores too."""
        ...


class VaultDuty:
    """One task, run in each vault that is due."""

    def __init__(self, upkeep: UpkeepRuntime, name: str, every: timedelta, work: Work) -> None:
        self.name = name
        self.every = every
        self._upkeep = upkeep
        self._work = work

    def make(self, *, force: bool = False) -> RoundRow:
        """Run the task where it is due and no other server runs it; a failing vault does not stop the others.

        With `force` run it everywhere.
        """
        admin = self._upkeep.admin
        made: dict[str, RoundRow | None] = {}
        with self._upkeep.claiming(self.name, self.every) as claims:
            marks = self._upkeep.given_marks()
            while not self._upkeep.stop.is_set():
                taken = claims.take(marks, made, everything=force)
                for one in taken:
                    if self._upkeep.stop.is_set():
                        break
                    made[one.entry.id] = self._visit(claims, one)
                if len(taken) < BATCH:
                    break
            before, failing = admin.catalog.read(
                lambda tx: (rounds.of_home(tx, self.name), rounds.failing(tx, self.name))
            )
            rows = [row for row in made.values() if row]
            row = sum_rows(self.name, self.every, claims.begun, claims.now(), rows, failing)
        record_total(admin, before, row)
        return row

    def _visit(self, claims: Claims, claimed: ClaimedVault) -> RoundRow | None:
        """Run the task in one vault; return None when another server took it over, whose result counts."""
        admin, last, vault_id = self._upkeep.admin, claimed.last, claimed.entry.id
        here, started = admin.clock(), claims.now()
        look = RoundContext(now=here, every=self.every, since=claims.here(last.started_at) if last else None)
        done = run_isolated(lambda: self._work(self._upkeep.open_vault(claimed.entry.owner), look))
        done = replace(done, next_at=claims.shared(done.next_at) if done.next_at else None)
        row = replace(to_row(self.name, self.every, started, claims.now(), done, last), vault=vault_id)
        return row if claims.finish(row, self._upkeep.given_marks([vault_id])) else None


class HomeDuty:
    """One task for the home as a whole."""

    def __init__(self, upkeep: UpkeepRuntime, name: str, every: timedelta, work: Callable[[], RoundResult]) -> None:
        self.name = name
        self.every = every
        self._upkeep = upkeep
        self._work = work

    def make(self, *, force: bool = False) -> RoundRow:
        """Run the task if it is due, also according to what the last program recorded, and no other server runs it."""
        admin = self._upkeep.admin
        with self._upkeep.claiming(self.name, self.every) as claims:
            taken = claims.take_home(everything=force)
            if taken is None:
                return admin.catalog.read(lambda tx: rounds.of_home(tx, self.name)) or self._elsewhere(claims)
            started = claims.now()
            done = replace(run_isolated(self._work), latest=self.every)
            row = to_row(self.name, self.every, started, claims.now(), done, taken[0])
            claims.finish(row, {})
        return row

    def _elsewhere(self, claims: Claims) -> RoundRow:
        """Return the result of a round that another server runs for the first time now."""
        return to_row(self.name, self.every, claims.now(), claims.now(), RoundResult(), None)


MakeWatcher: TypeAlias = Callable[[Vault], Watcher]
#: The name of the count of watched paths in the rows.
PLACES = "places"


@dataclass(slots=True)
class _Watched:
    """The watch state of one vault."""

    watcher: Watcher
    seen: str
    places: int


class WatchDuty:
    """Watches one kind of files for all vaults; a vault without any is opened only after a write to it."""

    def __init__(
        self,
        upkeep: UpkeepRuntime,
        name: str,
        every: timedelta,
        make_watcher: MakeWatcher,
        seen: Callable[[Sequence[VaultEntry]], Mapping[str, str]],
    ) -> None:
        self.name = name
        self.every = every
        self._upkeep = upkeep
        #: A state of each vault that changes at the latest when a vault without files gets something to watch. It is
        #: asked for all at once: each second, and each question may be a transaction.
        self._seen = seen
        self._make_watcher = make_watcher
        self._watched: dict[str, _Watched] = {}
        #: What the catalog stores; nobody else writes it while this program is the daemon.
        self._last: dict[str | None, RoundRow] | None = None

    def make(self, *, force: bool = False) -> RoundRow:
        """Check the files of each vault that has any once; with `force` sync all of them."""
        admin = self._upkeep.admin
        started = admin.clock()
        if self._last is None or force:
            self._last = dict(admin.catalog.read(lambda tx: rounds.by_vault(tx, self.name)))
            self._watched.clear()
        last, made = self._last, list[RoundRow]()
        entries = self._upkeep.entries()
        here: list[VaultEntry] = []
        for entry in entries:
            if admin.is_elsewhere(entry):
                self._watched.pop(entry.id, None)
                # What is recorded is the other host's: after a takeover this one looks for itself.
                last.pop(entry.id, None)
            else:
                here.append(entry)
        seen: Mapping[str, str] = self._seen(here) if here else {}
        for entry in here:
            if self._upkeep.stop.is_set():
                break
            row = self._visit(entry, seen[entry.id], last.get(entry.id), force=force)
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

    def _visit(self, entry: VaultEntry, seen: str, last: RoundRow | None, *, force: bool) -> RoundRow | None:
        """Return the result of checking one vault; None when nothing happened."""
        started = self._upkeep.admin.clock()
        resting = last is not None and last.failures > 0 and last.started_at <= started < last.next_at
        if not force and (resting or self._is_empty(entry, last, seen)):
            return None
        found = run_isolated(lambda: self._look(entry, seen))
        if found.trouble:
            # Started anew at the next try: what was seen may not have been synced.
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
        row = replace(row, vault=entry.id, seen=self._seen([entry])[entry.id])
        admin.catalog.claim(lambda tx: rounds.save(tx, row))
        return row

    def _is_empty(self, entry: VaultEntry, last: RoundRow | None, seen: str) -> bool:
        """Return whether this program or the last one recorded that the vault has nothing to watch."""
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
