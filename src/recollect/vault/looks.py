"""When this process last looked at the notes of a vault, and the crawls it remembers."""

import threading
import time
from collections.abc import Callable

from recollect.vault.crawl_cache import CrawlCache


class Looks:
    """The looks at the folders of one vault."""

    def __init__(self, crawls: CrawlCache, now: Callable[[], float] = time.monotonic) -> None:
        #: Shared by the vaults of a home.
        self.crawls = crawls
        self._now = now
        self._last: float | None = None
        self._lock = threading.Lock()

    def is_due(self, seconds: float) -> bool:
        """Whether the last look is that long ago; if so, the asker is expected to look now, and nobody else."""
        with self._lock:
            if self._last is not None and self._now() - self._last < seconds:
                return False
            self._last = self._now()
            return True
