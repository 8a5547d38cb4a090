"""The rounds that watch files: one look at each vault's notes, learnings or transcripts, a moment after the other."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from recollectum.storage.tables import rounds
from recollectum.storage.tables.rounds import RoundRow
from recollectum.storage.tables.vaults import VaultEntry
from recollectum.upkeep.rounds import Upkeep
from recollectum.upkeep.rounds_due import is_changed
from recollectum.upkeep.rounds_noting import attempted, note_total, to_row, total
from recollectum.upkeep.rounds_watching import Watcher
from recollectum.upkeep.rounds_work import Done
from recollectum.vault.vault import Vault

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
        self, upkeep: Upkeep, name: str, every: timedelta, make_watcher: MakeWatcher, seen: Callable[[VaultEntry], str]
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
        grounds = self._upkeep.grounds
        started = grounds.clock()
        if self._last is None or force:
            self._last = dict(grounds.catalog.read(lambda tx: rounds.by_vault(tx, self.name)))
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
        whole = total(self.name, self.every, started, grounds.clock(), made, failing)
        before = last.get(None)
        note_total(grounds, before, whole)
        if made or before is None or whole.started_at - before.started_at >= timedelta(minutes=1):
            last[None] = whole
        return whole

    def _visit(self, entry: VaultEntry, last: RoundRow | None, *, force: bool) -> RoundRow | None:
        """What came of a look at one vault; None when nothing did."""
        started, seen = self._upkeep.grounds.clock(), self._seen(entry)
        resting = last is not None and last.failures > 0 and last.started_at <= started < last.next_at
        if not force and (resting or self._is_empty(entry, last, seen)):
            return None
        found = attempted(lambda: self._look(entry, seen))
        if found.trouble:
            # Begun anew at the next try: what was seen may not have been taken over.
            self._watched.pop(entry.id, None)
        elif last and not last.trouble and found.counts == {PLACES: last.counts.get(PLACES)}:
            return None
        return self._noted(entry, started, found, last)

    def _look(self, entry: VaultEntry, seen: str) -> Done:
        watched = self._refreshed(entry, seen)
        counts = watched.watcher.step() if watched.places else None
        return Done(counts={**(counts or {}), PLACES: watched.places})

    def _noted(self, entry: VaultEntry, started: datetime, found: Done, last: RoundRow | None) -> RoundRow:
        grounds = self._upkeep.grounds
        row = to_row(self.name, self.every, started, grounds.clock(), found, last)
        row = replace(row, vault=entry.id, seen=self._seen(entry))
        grounds.catalog.write(lambda tx: rounds.save(tx, row))
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
