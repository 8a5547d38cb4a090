"""Caches recent crawls of a folder, and throttles how often the files of a vault are refreshed."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.files.note import MAX_DEPTH

if TYPE_CHECKING:
    from recollectum.vault.files.crawl import Crawl

#: How many crawls are cached.
_MAX_CRAWLS = 32


class CrawlCache:
    """A cache of recent crawls, so that several vaults that follow one folder do not each walk it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: dict[bytes, tuple[float, Crawl]] = {}
        self._lock = threading.Lock()

    def find(
        self, root: Path, *, most: int, ttl_seconds: float, depth: int = MAX_DEPTH, deadline: float | None = None
    ) -> "Crawl | None":
        """Return a recent crawl of the same folder with the same rules and depth, or make a new one."""
        # Imported here: most programs have no notes, and the crawler is slow to import.
        from recollectum.vault.files.crawl import crawl, crawl_key  # noqa: PLC0415
        from recollectum.vault.files.text_files import UnreadableFile  # noqa: PLC0415

        try:
            key = crawl_key(root, most, depth)
        except (OSError, UnreadableFile):
            return crawl(root, most=most, depth=depth, deadline=deadline)
        with self._lock:
            kept = self._kept.get(key)
        if kept and self._now() - kept[0] < ttl_seconds:
            return replace(kept[1], is_remembered=True)
        began = self._now()
        found = crawl(root, most=most, depth=depth, deadline=deadline)
        if found is not None:
            self._keep(key, began, found)
        return found

    def _keep(self, key: bytes, began: float, found: "Crawl") -> None:
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (began, found)
            # The oldest entry is first.
            for old in list(self._kept)[:-_MAX_CRAWLS]:
                del self._kept[old]


class RefreshThrottle:
    """Limits how often the files of one vault are checked."""

    def __init__(self, crawls: CrawlCache, now: Callable[[], float] = time.monotonic) -> None:
        #: Shared by the vaults of a home.
        self.crawls = crawls
        self._now = now
        self._last: dict[str, float] = {}
        self._lock = threading.Lock()

    def is_due(self, seconds: float, what: str = "notes") -> bool:
        """Return whether the last check is that long ago; if so, the caller must check now, and no other will."""
        with self._lock:
            now, last = self._now(), self._last.get(what)
            if last is not None and now - last < seconds:
                return False
            self._last[what] = now
            return True
