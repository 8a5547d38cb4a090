"""Watches transcripts, and reads each when enough new data has gathered or it is quiet (debounce)."""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path

from recollectum.domain.files.transcript import TranscriptReport
from recollectum.domain.records import dataclass
from recollectum.settings.model import TranscriptSettings
from recollectum.vault.files.text_files import UnreadableFile
from recollectum.vault.files.transcript_files import BATCH_BYTES, open_regular_file


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingData:
    """The unread data of a file."""

    bytes: int
    #: Whole lines, which are at least as many as the messages in them.
    lines: int
    #: Time since the file last changed.
    rested_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadThresholds:
    """How much is enough; 0 turns a threshold off."""

    bytes: int
    messages: int
    debounce_seconds: float


def is_read_due(waiting: PendingData, deltas: ReadThresholds) -> bool:
    """Return whether to read the file now: never without new data, always when the file is quiet."""
    if waiting.bytes <= 0:
        return False
    return (
        waiting.rested_seconds >= deltas.debounce_seconds
        or 0 < deltas.bytes <= waiting.bytes
        or 0 < deltas.messages <= waiting.lines
    )


_POLL_SECONDS = 1.0
_MINUTE = 60


@dataclass(slots=True)
class _WatchedFile:
    """One file: its size when it was last read, and now."""

    size: int
    mtime: int
    counted_to: int
    changed_at: float
    new_bytes: int = 0
    new_lines: int = 0


class TranscriptWatch:
    """Decides at each look which files are due."""

    def __init__(
        self,
        paths: Callable[[], Iterable[Path]],
        sync: Callable[[Collection[str] | None], TranscriptReport],
        rules: TranscriptSettings,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._paths = paths
        self._sync = sync
        self._rules = rules
        self._now = now
        self._watched: dict[str, _WatchedFile] = {}
        self._last: float | None = None

    def step(self) -> TranscriptReport | None:
        """Look once, and sync what is due; None when nothing was. The first look syncs everything."""
        now = self._now()
        interval = self._rules.interval_minutes * _MINUTE
        if self._last is None or (interval and now - self._last >= interval):
            self._last = now
            for path in self._paths():
                self._see(path, now, whole=True)
            return self._sync(None)
        if self._rules.watch == "off":
            return None
        due = self._due(now)
        return self._sync(due) if due else None

    def run(self, stop: threading.Event, progress: Callable[[TranscriptReport], None]) -> None:
        """Look repeatedly until `stop` is set."""
        poll = min(_POLL_SECONDS, self._rules.debounce_seconds or _POLL_SECONDS)
        while True:
            report = self.step()
            if report:
                progress(report)
            if stop.wait(poll):
                return

    def _due(self, now: float) -> set[str]:
        deltas = ReadThresholds(
            bytes=self._rules.delta_bytes,
            messages=self._rules.delta_messages,
            debounce_seconds=self._rules.debounce_seconds,
        )
        due: set[str] = set()
        for path in self._paths():
            one = self._see(path, now)
            if one is None:
                continue
            waiting = PendingData(bytes=one.new_bytes, lines=one.new_lines, rested_seconds=now - one.changed_at)
            if is_read_due(waiting, deltas):
                due.add(str(path))
                one.new_bytes = one.new_lines = 0
        return due

    def _see(self, path: Path, now: float, *, whole: bool = False) -> _WatchedFile | None:
        """Return the current state of the file; `whole` when all of it is about to be read."""
        try:
            state = path.stat()
        except OSError:
            return self._watched.pop(str(path), None) and None
        one = self._watched.get(str(path))
        if one is None:
            one = self._watched[str(path)] = _WatchedFile(0, 0, 0, now)
        if whole:
            one.size, one.mtime, one.counted_to = state.st_size, state.st_mtime_ns, state.st_size
            one.new_bytes = one.new_lines = 0
        elif (state.st_size, state.st_mtime_ns) != (one.size, one.mtime):
            self._count(path, one, state)
            one.changed_at = now
        return one

    def _count(self, path: Path, one: _WatchedFile, state: os.stat_result) -> None:
        if state.st_size < one.counted_to:
            # Truncated: all of it is new.
            one.counted_to = one.new_bytes = one.new_lines = 0
        # A file that was rewritten at the same length is new as well.
        one.new_bytes += max(1, state.st_size - one.counted_to)
        with suppress(OSError, UnreadableFile), open_regular_file(path) as file:
            file.seek(one.counted_to)
            while one.new_lines < self._rules.delta_messages and (piece := file.read(BATCH_BYTES)):
                one.new_lines += piece.count(b"\n")
        one.size, one.mtime, one.counted_to = state.st_size, state.st_mtime_ns, state.st_size
