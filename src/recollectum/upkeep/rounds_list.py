"""Which rounds there are, how often each comes by the settings, and which of them share a thread."""

from datetime import timedelta
from functools import cache
from pathlib import Path

from recollectum.domain.errors import InvalidInput
from recollectum.domain.owner import Owner
from recollectum.settings.model import Settings
from recollectum.storage.tables.vaults import VaultEntry
from recollectum.upkeep import rounds_work
from recollectum.upkeep.rounds import Duty, HomeDuty, Upkeep, VaultDuty
from recollectum.upkeep.rounds_watch import WatchDuty
from recollectum.upkeep.rounds_watching import (
    LearningWatcher,
    NoteWatcher,
    TranscriptWatcher,
    Watcher,
    file_states,
    learning_paths,
)
from recollectum.upkeep.rounds_work import Done
from recollectum.vault.learning_files import owner_folder
from recollectum.vault.vault import Vault

#: What a model may keep busy for minutes, in a thread of its own, and what only looks at files.
WORKING = ("consolidation", "summaries", "indexing", "retention", "backup")
WATCHING = ("notes", "learnings", "transcripts")
NAMES = (*WORKING, *WATCHING)
_WORKS = {
    "consolidation": rounds_work.consolidate,
    "summaries": rounds_work.summarise,
    "indexing": rounds_work.index,
    "retention": rounds_work.retain,
}


def intervals(settings: Settings) -> dict[str, timedelta | None]:
    """How often each round comes; None for one that the settings want not."""
    daemon = settings.daemon
    reading = timedelta(seconds=daemon.consolidation_seconds)
    watch = timedelta(seconds=daemon.watch_seconds)
    return {
        "consolidation": reading if settings.consolidation.idle_minutes else None,
        "summaries": reading,
        "indexing": None if settings.embedding.provider == "none" else timedelta(seconds=daemon.indexing_seconds),
        "retention": timedelta(minutes=daemon.retention_minutes),
        "backup": timedelta(hours=daemon.backup_hours) if daemon.backup_hours else None,
        "notes": watch if settings.notes.watch == "on" or settings.notes.interval_minutes else None,
        "learnings": watch,
        "transcripts": watch if settings.transcripts.watch == "on" or settings.transcripts.interval_minutes else None,
    }


def duty(upkeep: Upkeep, name: str, every: timedelta) -> Duty:
    """The round of that name."""
    if name in _WORKS:
        return VaultDuty(upkeep, name, every, _WORKS[name])
    if name == "backup":
        return HomeDuty(upkeep, name, every, lambda: _back_up(upkeep))
    if name not in WATCHING:
        raise InvalidInput(f"there is no round {name!r}; use one of {', '.join(NAMES)}")
    return _watch(upkeep, name, every)


def _watch(upkeep: Upkeep, name: str, every: timedelta) -> Duty:
    grounds = upkeep.grounds
    settings, owners = grounds.settings, grounds.home.root / "owners"

    @cache
    def folder_of(owner: Owner) -> Path:
        return owner_folder(owners, owner)

    def learnings_seen(entry: VaultEntry) -> str:
        return repr(file_states(learning_paths(folder_of(entry.owner))))

    def watcher(vault: Vault) -> Watcher:
        match name:
            case "notes":
                return NoteWatcher(vault, settings)
            case "learnings":
                return LearningWatcher(vault, settings, owners)
            case _:
                return TranscriptWatcher(vault, settings)

    seen = learnings_seen if name == "learnings" else upkeep.seen
    return WatchDuty(upkeep, name, every, watcher, seen)


def duties(upkeep: Upkeep, names: tuple[str, ...]) -> list[Duty]:
    """The rounds of these names that the settings want."""
    wanted = intervals(upkeep.grounds.settings)
    return [duty(upkeep, name, every) for name in names if (every := wanted[name])]


def _back_up(upkeep: Upkeep) -> Done:
    # Only now: most daemons make none, and what makes backups takes a while to load.
    from recollectum.upkeep.backup import back_up  # noqa: PLC0415

    made = back_up(upkeep.grounds)
    return Done(counts={"vaults": len(made.manifest.vaults), "bytes": made.bytes})
