"""Watches the notes, learnings and transcripts of one vault by polling."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeAlias

from recollectum.settings.model import Settings
from recollectum.vault.files import owner_files
from recollectum.vault.files.crawl import FoundFile, crawl
from recollectum.vault.files.transcript_files import find_transcripts
from recollectum.vault.transcripts.watch import TranscriptWatch
from recollectum.vault.vault import Vault

_MINUTE = 60
Signature: TypeAlias = "list[tuple[str, tuple[FoundFile, ...]]] | list[tuple[str, int, int]]"


class Watcher(Protocol):
    """Watches one kind of files for one vault."""

    def refresh(self) -> int:
        """Load from the vault what to watch; return how many paths."""
        ...

    def step(self) -> Mapping[str, int] | None:
        """Check the files once; return counts of what was synced, or None when nothing was due."""
        ...


class _Debounce:
    """Detects when changed files are quiet, or when an interval has passed."""

    def __init__(self, debounce_seconds: float, interval_minutes: int, now: Callable[[], float]) -> None:
        self._debounce = debounce_seconds
        self._interval = interval_minutes * _MINUTE
        self._now = now
        self._taken: Signature | None = None
        self._seen: Signature | None = None
        self._changed = self._last = 0.0

    def is_due(self, look: Callable[[], Signature] | None) -> bool:
        """Return whether to sync; always true the first time. Without a look, only at intervals."""
        now = self._now()
        if self._taken is None:
            current = look() if look else []
        else:
            current = look() if look else self._taken
            if current != self._seen:
                self._seen, self._changed = current, now
            rested = self._seen != self._taken and now - self._changed >= self._debounce
            if not rested and not (self._interval and now - self._last >= self._interval):
                return False
        # Changes during the sync differ from this state, and are synced next.
        self._taken, self._seen, self._last = current, current, now
        return True

    def again(self) -> None:
        """Sync everything at the next check."""
        self._taken = None


class NoteWatcher:
    """Watches the folders of notes."""

    def __init__(self, vault: Vault, settings: Settings, now: Callable[[], float] = time.monotonic) -> None:
        self._vault = vault
        self._rules = settings.notes
        self._rest = _Debounce(self._rules.debounce_seconds, self._rules.interval_minutes, now)
        self._folders: tuple[str, ...] = ()

    def refresh(self) -> int:
        """Load the folders."""
        self._folders = tuple(one.path for one in self._vault.admin.notes.list_folders())
        return len(self._folders)

    def step(self) -> Mapping[str, int] | None:
        """Sync when the files are quiet."""
        if not self._folders or not self._rest.is_due(self._look if self._rules.watch == "on" else None):
            return None
        try:
            report = self._vault.admin.notes.sync()
        except BaseException:
            self._rest.again()
            raise
        return {"added": report.added, "changed": report.changed, "removed": report.removed}

    def _look(self) -> Signature:
        most = self._rules.max_kib * 1024
        walks = ((path, crawl(Path(path), most=most)) for path in self._folders)
        return [(path, found.files if found else ()) for path, found in walks]


class LearningWatcher:
    """Watches the existing LEARNINGS.md files; creates none."""

    def __init__(
        self, vault: Vault, settings: Settings, owners: Path, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._vault = vault
        self._folder = owner_files.owner_folder(owners, vault.owner)
        self._rest = _Debounce(settings.learnings.debounce_seconds, 0, now)

    def refresh(self) -> int:
        """Return how many files there are."""
        return len(learning_paths(self._folder))

    def step(self) -> Mapping[str, int] | None:
        """Sync each file when they are quiet."""
        if not learning_paths(self._folder) or not self._rest.is_due(self._look):
            return None
        agents = [_agent(path, self._folder) for path in learning_paths(self._folder)]
        for agent, shared in agents:
            if shared or agent:
                self._vault.learnings.sync(agent, shared=shared)
        return {"files": len(agents)}

    def _look(self) -> Signature:
        return file_states(learning_paths(self._folder))


class TranscriptWatcher:
    """Watches transcripts by bytes, messages and quiet time."""

    def __init__(self, vault: Vault, settings: Settings, now: Callable[[], float] = time.monotonic) -> None:
        self._vault = vault
        self._places: tuple[str, ...] = ()
        self._watch = TranscriptWatch(
            self._paths, lambda _: self._vault.admin.transcripts.sync(), settings.transcripts, now
        )

    def refresh(self) -> int:
        """Load the paths."""
        self._places = tuple(one.path for one in self._vault.admin.transcripts.list())
        return len(self._places)

    def step(self) -> Mapping[str, int] | None:
        """Import what is due."""
        report = self._watch.step() if self._places else None
        return {"files": report.files, "messages": report.added} if report else None

    def _paths(self) -> list[Path]:
        return list(chain.from_iterable(find_transcripts(Path(place)) or () for place in self._places))


def learning_paths(folder: Path) -> list[Path]:
    """Return the existing LEARNINGS.md files of an owner."""
    if not owner_files.exists(folder):
        # Most people have none, and this is called every second.
        return []
    candidates = [folder / owner_files.LEARNINGS, *sorted(folder.glob(f"agent-*/{owner_files.LEARNINGS}"))]
    return [path for path in candidates if owner_files.exists(path)]


def _agent(path: Path, folder: Path) -> tuple[str | None, bool]:
    """Return the agent of a file, and whether all agents share it; the file of an unknown agent has neither."""
    return (None, True) if path.parent == folder else (owner_files.agent_of_folder(path.parent.name), False)


def file_states(paths: Sequence[Path]) -> list[tuple[str, int, int]]:
    """Return what is known of files without reading them; leave out missing ones."""
    found: list[tuple[str, int, int]] = []
    for path in paths:
        try:
            state = os.stat(path)  # noqa: PTH116 - a third of the time, and it is asked every second
        except OSError:
            continue
        found.append((path.name, state.st_mtime_ns, state.st_size))
    return found
