"""When this process last looked at the notes and transcripts of a vault, and the crawls it remembers."""

import threading
import time
from collections.abc import Callable

from recollectum.vault.crawl_cache import CrawlCache


class Looks:
    """The looks at the files of one vault."""

    def __init__(self, crawls: CrawlCache, now: Callable[[], float] = time.monotonic) -> None:
        #: Shared by the vaults of a home.
        self.crawls = crawls
        self._now = now
        self._last: dict[str, float] = {}
        self._lock = threading.Lock()

    def is_due(self, seconds: float, what: str = "notes") -> bool:
        """Whether the last look is that long ago; if so, the asker is expected to look now, and nobody else."""
        with self._lock:
            now, last = self._now(), self._last.get(what)
            if last is not None and now - last < seconds:
                return False
            self._last[what] = now
            return True
