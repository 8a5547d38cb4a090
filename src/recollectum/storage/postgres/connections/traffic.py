"""Counts what goes over the connections of one process: transactions, errors, waits and lost commits."""

from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Literal

from recollectum.domain.errors import StorageError
from recollectum.domain.telemetry.figure import Figure
from recollectum.domain.telemetry.spans import Spans

#: A read of a replica is counted apart.
Kind = Literal["read", "replica", "write", "claim"]
#: What became of a write whose COMMIT was not answered.
Outcome = Literal["stored", "not stored", "undecided"]
#: The numbers of psycopg's pool that only grow; a pool that is closed takes them with it.
_GROWING = ("requests_queued", "requests_wait_ms", "connections_num", "connections_errors", "connections_lost")


class Traffic:
    """The counts of one process and one database."""

    def __init__(self) -> None:
        #: Times each transaction, if somebody wants that.
        self.spans: Spans | None = None
        self._lock = Lock()
        self._transactions: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._past: Counter[str] = Counter()

    @contextmanager
    def transaction(self, kind: Kind, family: str) -> Generator[None]:
        """Count one transaction, and the error that it ends with."""
        with self._lock:
            self._transactions[kind] += 1
        try:
            if self.spans is None:
                yield
            else:
                facts = {"db.system.name": "postgresql", "recollectum.database": family, "recollectum.kind": kind}
                with self.spans.measure(f"transaction {kind}", facts):
                    yield
        except StorageError as error:
            with self._lock:
                self._errors[type(error).__name__] += 1
            raise

    def count_lost(self, outcome: Outcome) -> None:
        """Count a write whose COMMIT was not answered, with what became of it."""
        with self._lock:
            self._lost[outcome] += 1

    def keep(self, stats: Mapping[str, int]) -> None:
        """Keep the numbers of a pool that is closed."""
        with self._lock:
            self._past.update({name: stats.get(name, 0) for name in _GROWING})

    def figures(self, stats: Mapping[str, int], most: int) -> list[Figure]:
        """Return all numbers; `stats` are those of the open pool, empty when none is open."""
        with self._lock:
            transactions, errors, lost = dict(self._transactions), dict(self._errors), dict(self._lost)
            grown = {name: self._past[name] + stats.get(name, 0) for name in _GROWING}
        size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
        return [
            Figure(
                name="database_connections",
                words="Connections of this process to the database, by state.",
                label="state",
                values={"used": size - idle, "idle": idle},
            ),
            Figure(
                name="database_connections_limit", words="The setting storage.connections.", values={"": float(most)}
            ),
            Figure(
                name="database_waiting",
                words="Requests that wait for a free connection now.",
                values={"": stats.get("requests_waiting", 0)},
            ),
            _counted("database_waits", "Requests that had to wait for a connection.", grown["requests_queued"]),
            _counted("database_wait_seconds", "How long they waited, together.", grown["requests_wait_ms"] / 1000),
            _counted("database_connections_opened", "Connections that were opened.", grown["connections_num"]),
            _counted("database_connections_failed", "Attempts to connect that failed.", grown["connections_errors"]),
            _counted("database_connections_lost", "Connections that were lost.", grown["connections_lost"]),
            _labelled("database_transactions", "Transactions by kind.", "kind", transactions),
            _labelled("database_errors", "Transactions that ended with an error, by its class.", "error", errors),
            _labelled("database_lost_commits", "Commits without an answer, by what became of them.", "outcome", lost),
        ]


def _counted(name: str, words: str, value: float) -> Figure:
    return Figure(name=name, words=words, values={"": value}, grows=True)


def _labelled(name: str, words: str, label: str, values: Mapping[str, float]) -> Figure:
    return Figure(name=name, words=words, label=label, values=values, grows=True)
