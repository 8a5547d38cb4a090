"""Watching the folders: each change is followed a moment after the last one."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from recollectum.domain.note import SyncReport
from recollectum.storage.tables import notes
from recollectum.vault.crawling import Found, crawl
from recollectum.vault.erasing import finish_erasing
from recollectum.vault.footing import Footing
from recollectum.vault.note_sync import sync

_POLL_SECONDS = 1.0
_MINUTE = 60


def watch(footing: Footing, stop: threading.Event, progress: Callable[[SyncReport], None]) -> None:
    """Sync once, then after each change as soon as the folders have rested, and at every interval."""
    rules = footing.settings.notes
    poll = min(_POLL_SECONDS, rules.debounce_seconds or _POLL_SECONDS)
    synced = seen = _signature(footing)
    progress(_synced(footing))
    last = changed = time.monotonic()
    while not stop.wait(poll):
        now = time.monotonic()
        current = _signature(footing) if rules.watch == "on" else synced
        if current != seen:
            seen, changed = current, now
        rested = seen != synced and now - changed >= rules.debounce_seconds
        due = rules.interval_minutes and now - last >= rules.interval_minutes * _MINUTE
        if rested or due:
            progress(_synced(footing))
            synced, last = current, now


def _synced(footing: Footing) -> SyncReport:
    report = sync(footing)
    finish_erasing(footing)
    return report


def _signature(footing: Footing) -> list[tuple[str, tuple[Found, ...]]]:
    """The state of every file, as far as it can be seen without reading it."""
    most = footing.settings.notes.max_kib * 1024
    folders = footing.read(lambda tx, _: notes.folders(tx))
    walks = ((folder.path, crawl(Path(folder.path), most=most)) for folder in folders)
    return [(path, found.files if found else ()) for path, found in walks]
