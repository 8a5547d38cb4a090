"""Keeps the texts that memory served until their digests are saved, in batches."""

import threading
from datetime import UTC, datetime, timedelta

from recollectum.domain.ids import Clock, system_clock
from recollectum.storage.port import Database
from recollectum.vault.clock import VaultClock

#: The digests of waiting texts are saved when the first is this old, or there are this many, or they are this long.
_AGE, _MOST_TEXTS, _MOST_LETTERS = timedelta(minutes=1), 32, 1 << 20
_NEVER = datetime.min.replace(tzinfo=UTC)


class UnsavedTexts:
    """The texts of one vault that were served and whose digests are not saved yet."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        #: Each with the vault's time of its snapshot.
        self._waiting: list[tuple[str, datetime]] = []
        self._letters = 0
        self._since = _NEVER
        self._lock = threading.Lock()

    def add(self, text: str, at: datetime) -> None:
        """Note a text that a model is about to read; `at` is the time of its snapshot."""
        with self._lock:
            if not self._waiting:
                self._since = self._clock()
            self._waiting.append((text, at))
            self._letters += len(text)

    @property
    def is_due(self) -> bool:
        """Whether the waiting texts are old or many enough."""
        if not self._waiting:
            return False
        many = len(self._waiting) >= _MOST_TEXTS or self._letters >= _MOST_LETTERS
        return many or abs(self._clock() - self._since) >= _AGE

    def write(self, database: Database, clock: VaultClock) -> None:
        """Save the digests of the waiting texts."""
        if waiting := self._take():
            # Imported here: most programs never serve a context.
            from recollectum.vault.deferred.digests import save_digests  # noqa: PLC0415

            save_digests(database, clock, waiting)

    def clear(self) -> None:
        """Drop the waiting texts, so that destroyed rows are not even in memory."""
        self._take()

    def _take(self) -> list[tuple[str, datetime]]:
        with self._lock:
            taken, self._waiting, self._letters = self._waiting, [], 0
        return taken
