"""Schedules all rounds by the settings and runs them in two threads: work and file watching."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import InvalidInput, RecollectumError
from recollectum.settings.model import Settings
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.rounds import tasks
from recollectum.upkeep.rounds.duties import Duty, HomeDuty, UpkeepRuntime, VaultDuty, WatchDuty
from recollectum.upkeep.rounds.tasks import RoundResult
from recollectum.upkeep.rounds.watchers import (
    LearningWatcher,
    NoteWatcher,
    TranscriptWatcher,
    Watcher,
    file_states,
    learning_paths,
)
from recollectum.vault.files.owner_files import owner_folder
from recollectum.vault.vault import Vault

#: Rounds that a model may keep busy for minutes, in a separate thread, and rounds that only check files.
WORKING = ("consolidation", "summaries", "indexing", "retention", "tasks", "backup")
WATCHING = ("notes", "learnings", "transcripts")
NAMES = (*WORKING, *WATCHING)
_WORKS = {
    "consolidation": tasks.consolidate,
    "summaries": tasks.summarise,
    "indexing": tasks.index,
    "retention": tasks.retain,
    "tasks": tasks.sweep_tasks,
}


def intervals(settings: Settings) -> dict[str, timedelta | None]:
    """Return the interval of each round; None for a round that the settings turn off."""
    daemon = settings.daemon
    reading = timedelta(seconds=daemon.consolidation_seconds)
    watch = timedelta(seconds=daemon.watch_seconds)
    return {
        "consolidation": reading if settings.consolidation.idle_minutes else None,
        "summaries": reading,
        "indexing": None if settings.embedding.provider == "none" else timedelta(seconds=daemon.indexing_seconds),
        "retention": timedelta(minutes=daemon.retention_minutes),
        "tasks": timedelta(hours=settings.tasks.retention_hours) if settings.tasks.retention_hours else None,
        "backup": timedelta(hours=daemon.backup_hours) if daemon.backup_hours else None,
        "notes": watch if settings.notes.watch == "on" or settings.notes.interval_minutes else None,
        "learnings": watch,
        "transcripts": watch if settings.transcripts.watch == "on" or settings.transcripts.interval_minutes else None,
    }


def duty(upkeep: UpkeepRuntime, name: str, every: timedelta) -> Duty:
    """Return the round of that name."""
    if name in _WORKS:
        return VaultDuty(upkeep, name, every, _WORKS[name])
    if name == "backup":
        return HomeDuty(upkeep, name, every, lambda: _back_up(upkeep))
    if name not in WATCHING:
        raise InvalidInput(f"there is no round {name!r}; use one of {', '.join(NAMES)}")
    return _watch(upkeep, name, every)


def _watch(upkeep: UpkeepRuntime, name: str, every: timedelta) -> Duty:
    settings, owners = upkeep.settings, upkeep.admin.home.root / "owners"

    @cache
    def folder_of(owner: Owner) -> Path:
        return owner_folder(owners, owner)

    def learnings_seen(entries: Iterable[VaultEntry]) -> dict[str, str]:
        return {entry.id: repr(file_states(learning_paths(folder_of(entry.owner)))) for entry in entries}

    def watcher(vault: Vault) -> Watcher:
        match name:
            case "notes":
                return NoteWatcher(vault, settings)
            case "learnings":
                return LearningWatcher(vault, settings, owners)
            case _:
                return TranscriptWatcher(vault, settings)

    seen = learnings_seen if name == "learnings" else upkeep.marks
    return WatchDuty(upkeep, name, every, watcher, seen)


def duties(upkeep: UpkeepRuntime, names: tuple[str, ...]) -> list[Duty]:
    """Return those of the named rounds that the settings turn on."""
    wanted = intervals(upkeep.settings)
    return [duty(upkeep, name, every) for name in names if (every := wanted[name])]


def _back_up(upkeep: UpkeepRuntime) -> RoundResult:
    # Imported here: most daemons make no backups, and the module is slow to import.
    from recollectum.upkeep.backup.backup import back_up  # noqa: PLC0415

    made = back_up(upkeep.admin)
    return RoundResult(counts={"vaults": len(made.manifest.vaults), "bytes": made.bytes})


_LONGEST_WAIT = 60.0
#: A rare round is checked more often: after a machine slept, its time may have passed.
_LONGEST_PACE = 600.0


class UpkeepThread:
    """A thread that runs some rounds in turn, each when it is due."""

    def __init__(self, name: str, duties: Sequence[Duty], stop: threading.Event) -> None:
        self._duties = duties
        self._stop = stop
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread; do nothing without rounds."""
        if self._duties:
            self._thread.start()

    def join(self, seconds: float) -> bool:
        """Wait for its end; False when it takes longer."""
        if self._duties:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self, now: Callable[[], float] = time.monotonic) -> None:
        due = dict.fromkeys(range(len(self._duties)), now())
        while not self._stop.is_set():
            for place, duty in enumerate(self._duties):
                if due[place] <= now() and not self._stop.is_set():
                    # Errors in a vault are recorded; this is a catalog that takes no writes now, and may again later.
                    with suppress(RecollectumError, OSError):
                        duty.make()
                    due[place] = now() + min(duty.every.total_seconds(), _LONGEST_PACE)
            self._stop.wait(min(_LONGEST_WAIT, max(0.0, min(due.values()) - now())))


def start_threads(upkeep: UpkeepRuntime) -> list[UpkeepThread]:
    """Start upkeep; it ends after `upkeep.stop` is set."""
    hosts = upkeep.admin.opened.hosts
    if hosts:
        # A catalog that takes no writes now may take them later; the name of this host is not urgent.
        with suppress(RecollectumError):
            upkeep.admin.catalog.claim(hosts.register)
    lanes = [
        UpkeepThread("recollectum-upkeep", duties(upkeep, WORKING), upkeep.stop),
        UpkeepThread("recollectum-watch", duties(upkeep, WATCHING), upkeep.stop),
    ]
    for lane in lanes:
        lane.start()
    return lanes
