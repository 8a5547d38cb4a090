"""Group commit: writers that arrive together share one transaction, each in its own savepoint.

The caller that gets the turn is the leader. It takes all waiting work, runs each piece in a savepoint of one
transaction, commits once, and gives every caller its own result. A single caller pays nothing for it.
"""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import apsw

from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx

#: Pieces of work per commit; more would make the first caller wait for the last.
_MAX_BATCH = 64


class CommitCheck(Protocol):
    """Decides whether a transaction may begin."""

    def check(self, connection: apsw.Connection) -> None:
        """Raise if nothing may be written, in a transaction that has just begun."""
        ...

    def note(self, connection: apsw.Connection) -> None:
        """Note that a transaction was committed."""
        ...


@dataclass(slots=True)
class _Job:
    work: Callable[[Tx], Any]
    done: bool = False
    value: Any = None
    error: BaseException | None = None


class GroupCommitWriter:
    """Runs functions of a transaction, one transaction at a time."""

    def __init__(self, connection: apsw.Connection, tx: Tx, check: CommitCheck | None = None) -> None:
        self._connection = connection
        self._tx = tx
        self._check = check
        self._waiting: deque[_Job] = deque()
        self._turn = threading.Lock()

    def run(self, work: Callable[[Tx], Any]) -> Any:  # noqa: ANN401  (Database.write gives it its type)
        """Run `work`, and return its result after the commit is durable."""
        job = _Job(work)
        self._waiting.append(job)
        with self._turn:
            # More work may wait than one commit takes, and earlier work goes first.
            while not job.done:
                self._lead()
        if job.error is not None:
            raise job.error
        return job.value

    def exclusive(self, work: Callable[[apsw.Connection], Any]) -> Any:  # noqa: ANN401
        """Run `work` on the connection between two commits, outside any transaction."""
        with self._turn:
            return work(self._connection)

    def _lead(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MAX_BATCH))]
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            if self._check:
                self._check.check(self._connection)
            if len(batch) == 1:
                batch[0].value = batch[0].work(self._tx)
            else:
                for job in batch:
                    self._step(job)
            self._connection.execute("COMMIT")
            if self._check:
                self._check.note(self._connection)
        except BaseException as error:  # noqa: BLE001  (passed on to the callers)
            self._roll_back()
            for job in batch:
                job.error = job.error or error
        for job in batch:
            job.done = True

    def _step(self, job: _Job) -> None:
        """Run one piece of a shared transaction; its failure rolls back that piece only."""
        self._connection.execute("SAVEPOINT step")
        try:
            job.value = job.work(self._tx)
        except BaseException as error:
            job.error = error
            if not self._connection.in_transaction:
                # A full disk or a failed read rolls back the whole transaction; no caller has been told that it
                # succeeded.
                raise
            self._connection.execute("ROLLBACK TO step")
        self._connection.execute("RELEASE step")

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
