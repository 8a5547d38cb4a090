"""Renews the deadlines of memories that were served, in batches."""

import threading
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from recollectum.domain.errors import StorageError
from recollectum.domain.ids import Clock, system_clock
from recollectum.policy.lifecycle import Retention, active_times
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.content import deadlines
from recollectum.storage.tables.content.deadlines import Deadlines, RuledMemories
from recollectum.vault.clock import VaultClock

#: A batch is written when it is this old or this large.
_AGE = timedelta(minutes=1)
_MOST_USES = 256
#: A memory is renewed once in this time, however often it is used.
_ONCE_IN = timedelta(days=1)
_REMEMBERED = 4096
_NEVER = datetime.min.replace(tzinfo=UTC)


class Renewals:
    """The uses of one vault's memories that are not written yet; a crash loses them, at most a minute's."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._waiting: set[str] = set()
        self._since = _NEVER
        self._renewed: dict[str, datetime] = {}
        self._rules = Retention()
        self._lock = threading.Lock()

    def add(self, memory_ids: Iterable[str], rules: Retention) -> None:
        """Note that memories were served, if a retention lets any memory expire."""
        if rules.active is None and all(periods.active is None for _, periods in rules.agents):
            return
        with self._lock:
            now = self._clock()
            fresh = {one for one in memory_ids if abs(now - self._renewed.get(one, _NEVER)) >= _ONCE_IN}
            if fresh and not self._waiting:
                self._since = now
            self._waiting |= fresh
            self._rules = rules

    @property
    def is_due(self) -> bool:
        """Whether a batch is old or large enough to be written."""
        return bool(self._waiting) and (len(self._waiting) >= _MOST_USES or abs(self._clock() - self._since) >= _AGE)

    def write(self, database: Database, clock: VaultClock) -> None:
        """Renew the memories that were served; a disk that takes no writes loses that."""
        with self._lock:
            served, rules = sorted(self._waiting), self._rules
            self._waiting.clear()
            if len(self._renewed) + len(served) > _REMEMBERED:
                self._renewed.clear()
            self._renewed.update(dict.fromkeys(served, self._clock()))
        if served:
            with suppress(StorageError):
                database.write(lambda tx: _renew(tx, clock, rules, served))


def _renew(tx: Tx, clock: VaultClock, rules: Retention, memory_ids: list[str]) -> None:
    now = clock.reading(tx).policy_now
    named = tuple(name for name, _ in rules.agents)
    chosen = [(RuledMemories(others=named), rules), *((RuledMemories(agent=name), of) for name, of in rules.agents)]
    for memories, periods in chosen:
        times = active_times(now, periods)
        fresh = Deadlines(archive_at=times["archive_at"], retention_expires_at=times["retention_expires_at"])
        deadlines.renew(tx, memory_ids, memories, fresh)
